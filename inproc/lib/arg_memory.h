/*
 * arg_memory.h: logs the memory that identifies the object of a call: the polled descriptors, the
 * address of a connect.
 *
 * The tracer reads the record of the call some milliseconds later, when the memory may have changed
 * or been unmapped. So it is copied before the call, and only the part that the tracer needs. A
 * program may pass any address, and another thread may unmap it meanwhile. So the kernel copies it
 * (process_vm_readv of oneself, 1 us here), because a plain read could fault where the kernel
 * returns EFAULT. Only the page of the stack pointer is read directly, as that is certainly mapped.
 *
 * Rejected: copying when the call is over. Then it is known that the memory was mapped, but not
 * that it still is, and a woken thread is emitted before its waker.
 */
#ifndef FLAME_INPROC_LIB_ARG_MEMORY_H
#define FLAME_INPROC_LIB_ARG_MEMORY_H

#include <sys/types.h>

#include "inproc/ring.h"

/* Most words that arg_memory_put needs. */
#define POINTED_MOST_WORDS (RING_PIECES * (RING_PIECE_WORDS + 64u) + RING_PIECE_MAX)

/*
 * Puts the records before that of the call, which will get the serial number `serial`; there must
 * be room for POINTED_MOST_WORDS. `tid`: the thread's own number, for the kernel. False, with
 * nothing put: a part cannot be read, or is too large (poll of more than RING_PIECE_MAX
 * descriptors). No libc; safe in signal handlers; may make a system call.
 */
bool arg_memory_put(struct ring *r, const struct patch_call *call, uint32_t serial, pid_t tid);

/* Most words that arg_memory_put_path needs: those of the longest path, rounded up to the size of
 * one read. */
#define POINTED_PATH_WORDS (RING_PIECE_WORDS + (4096u + 256u) / 8)

/*
 * Like arg_memory_put, for the path of an open that has slept and is over. An open that has not
 * slept is not needed, and while one waits the tracer reads the path itself. There must be room for
 * POINTED_PATH_WORDS.
 */
bool arg_memory_put_path(struct ring *r, const struct patch_call *call, uint32_t serial, pid_t tid);

#endif
