/*
 * recent_frees.h: records of the blocks that were freed last, by their addresses.
 *
 * Only records are stored: the memory returns to the allocator at once, so that the program's heap
 * does not change. There are records of the last FREED_MOST frees, in 15 MiB at most, which are
 * touched as frees are made. Any thread may call these functions at any time, signal handlers too:
 * there is no lock, and a record that is being overwritten is not found. No malloc. A forked child
 * continues with a copy.
 */
#ifndef FLAME_PRELOAD_SIDETABLES_RECENT_FREES_H
#define FLAME_PRELOAD_SIDETABLES_RECENT_FREES_H

#include <stdbool.h>

#include "common/compiler.h"

#define FREED_MOST 262144u

struct freed {
    uintptr_t addr;
    uint64_t size;
    uint32_t alloc_row, free_row; /* 0: not known */
    uint32_t missed;              /* features_missed.allocs at the time */
    uint16_t thread;              /* id, in the trace, of the thread that freed it */
    uint8_t call;                 /* enum trace_call: the function that freed it */
    uint8_t made;                 /* enum trace_made */
};

/* Makes the table. False: no memory, and the functions below must not be called. */
bool recent_frees_begin(void);

void recent_frees_note(const struct freed *f);

/* Finds the newest record of that address. *since: number of blocks freed after it. */
bool recent_frees_find(uintptr_t addr, struct freed *out, uint64_t *since);

/* Whether more blocks were freed than there are records. */
bool recent_frees_forgets(void);

#endif
