/*
 * polledfiles.h: plain files among what is polled.
 *
 * A plain file is always ready, so hardly anybody polls one; but one that is polled for nothing but
 * errors, beside a pipe, is an object of the wait for the pipe as all the others are. The tracer
 * looks some milliseconds later what they are. So such a descriptor is closed with a stop again
 * (plain_fds.h), whoever closes it.
 */
#ifndef FLAME_INPROC_LIB_POLLEDFILES_H
#define FLAME_INPROC_LIB_POLLEDFILES_H

#include "inproc/ring.h"

/*
 * `call` is about to be made by a thread of `process`; what its arguments point to lies in the
 * ring's records [from, to) (arg_memory_put), which may be none. Calls that poll nothing are left
 * alone. No libc, no call; thread- and signal-safe.
 */
void polledfiles_forget(uint32_t process, const struct ring *r, uint64_t from, uint64_t to,
                        const struct patch_call *call);

#endif
