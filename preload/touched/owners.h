/*
 * owners.h: whose memory it is that was touched first: the row of the block, or of the mapping,
 * that an address lies in, or a part of memory that is no stack's; counted there.
 *
 * For one thread at a time, with the guard at GUARD_RECORDING. No malloc.
 */
#ifndef FLAME_PRELOAD_TOUCHED_OWNERS_H
#define FLAME_PRELOAD_TOUCHED_OWNERS_H

#include "preload/threads.h"
#include "preload/touched/faultrings.h"

struct owning {
    struct thread_state *t; /* the calling thread */
    const struct faultrings *rings;
    uintptr_t lo, hi; /* the block that was found last, in this reading */
    uint32_t row;
};

/* As faultrings_read's visitor; `arg` is a struct owning. */
void owners_count(const struct touched *t, void *arg);

/* In a forked child, to whose trace the rows do not belong. */
void owners_forget(void);

#endif
