/*
 * polledfiles.h: plain files in poll sets.
 *
 * A plain file is always ready, so programs hardly ever poll one. But one that is polled for errors
 * alone, beside a pipe, is an object of the wait for the pipe like all the others. The tracer
 * resolves these objects some milliseconds later. So the close of such a descriptor stops again
 * (plain_fds.h), in any thread.
 */
#ifndef FLAME_INPROC_LIB_POLLEDFILES_H
#define FLAME_INPROC_LIB_POLLEDFILES_H

#include "inproc/ring.h"

/*
 * Drops the states of descriptors that `call`, which a thread of `process` is about to make, polls.
 * The memory that its arguments point to lies in the ring's records [from, to) (arg_memory_put),
 * which may be empty. Calls that poll nothing are ignored. No libc, no call; thread- and
 * signal-safe.
 */
void polledfiles_forget(uint32_t process, const struct ring *r, uint64_t from, uint64_t to,
                        const struct patch_call *call);

#endif
