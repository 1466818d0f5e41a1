/*
 * arg_memory.h: logs the memory that tells what a call is on: the descriptors that are polled, the
 * address that is connected to.
 *
 * The tracer reads of the call some milliseconds later, when the memory may be something else, or
 * gone. So it is copied before the call, and only what the tracer asks for. A program may give any
 * address, and another thread may unmap it meanwhile: the kernel copies it (process_vm_readv of
 * oneself, 1 us here), as a plain read could fault where the kernel says EFAULT. Only the page that
 * the stack pointer lies in is read without asking, as that is there.
 *
 * Rejected: copying when the call is over. Then it is known that the memory was there, but not that
 * it still is, and a woken thread is emitted before what woke it.
 */
#ifndef FLAME_INPROC_LIB_ARG_MEMORY_H
#define FLAME_INPROC_LIB_ARG_MEMORY_H

#include <sys/types.h>

#include "inproc/ring.h"

/* Words that arg_memory_put may need in all. */
#define POINTED_MOST_WORDS (RING_PIECES * (RING_PIECE_WORDS + 64u) + RING_PIECE_MAX)

/*
 * Puts the records before that of the call, whose serial number is to be `serial`; there is room
 * for POINTED_MOST_WORDS. `tid`: the thread's own number, for the kernel. False, with nothing put:
 * some of it cannot be read, or is too much (poll of more than RING_PIECE_MAX descriptors).
 * No libc; safe in signal handlers; may make a system call.
 */
bool arg_memory_put(struct ring *r, const struct patch_call *call, uint32_t serial, pid_t tid);

/* Words that arg_memory_put_path may need: those of the longest path, to the end of what is read at
 * a time. */
#define POINTED_PATH_WORDS (RING_PIECE_WORDS + (4096u + 256u) / 8)

/*
 * Like arg_memory_put, for the path of an open that has slept and is over. An open that has not
 * slept is of no interest, and while one waits the tracer reads the path itself. There is room for
 * POINTED_PATH_WORDS.
 */
bool arg_memory_put_path(struct ring *r, const struct patch_call *call, uint32_t serial, pid_t tid);

#endif
