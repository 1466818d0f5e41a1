/*
 * call_log.h: notes the calls of the thread that makes them, in its ring.
 *
 * The handler of patched calls (patch/patcher.h) in libflamewait.so, and what it keeps of each
 * thread. A call that is asked for (patch_numbers) is made by the gate, with a record before and
 * one behind it. Wherever that cannot be, it is made where the filter stops it, and the tracer sees
 * it as it sees those of a program without this library:
 *
 * - all rings are taken, or this one is closed;
 * - the thread is at work here already: a signal handler interrupted it;
 * - the reader does not come (ring_wait).
 *
 * Holds what the patcher asks of handlers. Between two calls nothing is kept but the thread's
 * memory, which whoever has the ring next takes over.
 */
#ifndef FLAME_INPROC_LIB_CALL_LOG_H
#define FLAME_INPROC_LIB_CALL_LOG_H

#include "inproc/shm.h"

/* Gets ready for a session that is mapped and sound; the view is borrowed. 0, or what is missing,
 * an enum shm_refusal. For the start, before anything is patched. */
unsigned call_log_init(const struct shm_view *session);

/* The process is under filters that the run knows nothing of: less is noted. For the start. */
void call_log_confined(void);

/*
 * Calls of cancellation points that the C library makes are noted, too: marked
 * (inproc/syscall_mark.h), they return to `pc` in the code that makes them. Else they are made
 * where they stop. For the start.
 */
void call_log_mark(uintptr_t pc);

/*
 * Notes that a region of the calling thread begins or ends (up to RING_NAME_MAX bytes of the name;
 * NULL: none). Not for signal handlers, but harmless there. False: it is not known to the tracer.
 */
bool call_log_region(enum ring_region what, const char *name);

/* The patch_see. */
long call_log_see(const struct patch_call *call);

#endif
