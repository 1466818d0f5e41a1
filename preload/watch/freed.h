/*
 * freed.h: what is remembered of the blocks that were freed last, by their addresses.
 *
 * Records only: the memory goes back to the allocator at once, so that the program's heap is
 * what it would have been. The last FREED_MOST frees are remembered, in 15 MiB at most, which
 * are touched as frees come. Any thread may call these at any time, signal handlers too: there
 * is no lock, and a record that is being overwritten is not found. No malloc. A forked child
 * goes on with a copy.
 */
#ifndef FLAME_PRELOAD_WATCH_FREED_H
#define FLAME_PRELOAD_WATCH_FREED_H

#include <stdbool.h>

#include "common/compiler.h"

#define FREED_MOST 262144u

struct freed {
    uintptr_t addr;
    uint64_t size;
    uint32_t alloc_row, free_row; /* 0: not known */
    uint32_t missed;              /* watch_missed.allocs at the time */
    uint16_t thread;              /* of the trace, who freed it */
    uint8_t call;                 /* enum trace_call: by what */
    uint8_t made;                 /* enum trace_made */
};

/* False: no memory. Until then nothing may be noted or looked for. */
bool freed_begin(void);

void freed_note(const struct freed *f);

/* The newest record of that address. *since: how many blocks were freed after it. */
bool freed_find(uintptr_t addr, struct freed *out, uint64_t *since);

/* Whether more was freed than is remembered. */
bool freed_forgets(void);

#endif
