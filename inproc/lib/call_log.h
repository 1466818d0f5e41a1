/*
 * call_log.h: logs the calls of the calling thread in its ring.
 *
 * It is the handler of patched calls (patch/patcher.h) in libflamewait.so, and has the memory of
 * each thread. The gate makes a call whose number is selected (patch_numbers), with a record before
 * and one after it. Wherever that is impossible, the call is made at its own place, where the
 * filter stops it, and the tracer sees it as in a program without this library:
 *
 * - all rings are taken, or this one is closed;
 * - the thread runs this code already: a signal handler interrupted it;
 * - the reader does not come (ring_wait).
 *
 * It observes the patcher's rules for handlers. Between two calls it keeps nothing but the thread's
 * memory, which the next owner of the ring reuses.
 */
#ifndef FLAME_INPROC_LIB_CALL_LOG_H
#define FLAME_INPROC_LIB_CALL_LOG_H

#include "inproc/shm.h"

/* Prepares for a session that is mapped and sound; the view is borrowed. 0, or the missing feature
 * as an enum shm_refusal. For the start, before anything is patched. */
unsigned call_log_init(const struct shm_view *session);

/* The process is under filters that the run does not know: fewer calls are logged. For the start.
 */
void call_log_confined(void);

/*
 * Calls of cancellation points that the C library makes are logged, too: marked
 * (inproc/syscall_mark.h), they return to `pc` in the code that makes them. Otherwise they are made
 * where they stop. For the start.
 */
void call_log_mark(uintptr_t pc);

/*
 * Logs that a region of the calling thread begins or ends (up to RING_NAME_MAX bytes of the name;
 * NULL: none). Not for signal handlers, but harmless there. False: the tracer does not get it.
 */
bool call_log_region(enum ring_region what, const char *name);

/* The patch_see of libflamewait.so. */
long call_log_see(const struct patch_call *call);

#endif
