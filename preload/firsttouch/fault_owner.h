/*
 * fault_owner.h: counts page faults for the owner of the memory: the row of the block or of the
 * mapping that contains the address, or a part of memory that belongs to no stack.
 *
 * For one thread at a time, with the guard at GUARD_RECORDING. No malloc.
 */
#ifndef FLAME_PRELOAD_FIRSTTOUCH_FAULT_OWNER_H
#define FLAME_PRELOAD_FIRSTTOUCH_FAULT_OWNER_H

#include "preload/threads.h"
#include "preload/firsttouch/faultrings.h"

struct owning {
    struct thread_state *t; /* the calling thread */
    const struct faultrings *rings;
    uintptr_t lo, hi; /* the last block found, in this reading */
    uint32_t row;
};

/* Visitor for faultrings_read; `arg` is a struct owning. */
void fault_owner_count(const struct touched *t, void *arg);

/* To be called in a forked child, whose trace does not have the rows. */
void fault_owner_forget(void);

#endif
