/*
 * recent_frees.h: records of the blocks that were freed last, by their addresses.
 *
 * Only records are kept: the memory goes back to the allocator at once, so that the program's heap
 * is what it would have been. The last FREED_MOST frees are remembered, in 15 MiB at most, which
 * are touched as frees come. Any thread may call these functions at any time, signal handlers too:
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
    uint16_t thread;              /* of the trace; the thread that freed it */
    uint8_t call;                 /* enum trace_call: the function that freed it */
    uint8_t made;                 /* enum trace_made */
};

/* To be called before the functions below. False: no memory, and they may not be called. */
bool recent_frees_begin(void);

void recent_frees_note(const struct freed *f);

/* Finds the newest record of that address. *since: number of blocks freed after it. */
bool recent_frees_find(uintptr_t addr, struct freed *out, uint64_t *since);

/* Whether more blocks were freed than are remembered. */
bool recent_frees_forgets(void);

#endif
