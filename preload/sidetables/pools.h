/*
 * pools.h: blocks that the program's own allocators hand out (preload/flamemem.h), by pool, and the
 * memory that backs them. That memory is in chunks. A chunk is a part of one block of malloc's, its
 * backing, or of other memory.
 *
 * Any thread, between pools_lock and pools_unlock; only pools_may_be_backing needs no lock. The
 * guard is held at GUARD_RECORDING. Memory: 72 bytes a block. No malloc.
 */
#ifndef FLAME_PRELOAD_SIDETABLES_POOLS_H
#define FLAME_PRELOAD_SIDETABLES_POOLS_H

#include <stdbool.h>

#include "preload/sidetables/features.h"

struct pool_block {
    uintptr_t addr;
    uint64_t size;
    uint32_t row;         /* row of the trace that counts it */
    uint64_t born;        /* (preload/sidetables/age_clock.h); 0: not known */
    uint32_t backing_row; /* row of the backing, which does not count its bytes; 0: none */
    bool in_chunk;        /* it lies in a chunk of its pool */
};

typedef void pools_visit(const struct pool_block *b, void *arg);

void pools_lock(void);
void pools_unlock(void);

/* Makes a pool. False: there is such a pool already, or there is no memory. */
bool pools_create(uintptr_t pool);

/* Adds [lo, lo + size) to the pool: a part of the block at `backing` (0: of none), which counts
 * in `row` (0: in none). False: no such pool, no memory, or a part of it is a chunk already. */
bool pools_add(uintptr_t pool, uintptr_t lo, uint64_t size, uintptr_t backing, uint32_t row);

/* Adds a block, and sets its backing_row. False: no such pool, no memory, the pool has a block
 * there, or less room left in its chunk. */
bool pools_put(uintptr_t pool, struct pool_block *b);

/* Removes a block. False: the pool has no such block. */
bool pools_take(uintptr_t pool, uintptr_t addr, struct pool_block *out);

/* Ends a pool; its blocks are visited and removed. False: there is no such pool. */
bool pools_end(uintptr_t pool, pools_visit *visit, void *arg);

/* Whether a chunk may be part of the block at `addr`. False is certain. */
bool pools_may_be_backing(uintptr_t addr);

/* Ends all chunks in a backing, which is about to be freed; their blocks are visited and
 * removed. */
void pools_backing_gone(uintptr_t backing, pools_visit *visit, void *arg);

/* Visits the blocks in a backing; returns the sum of their bytes. */
uint64_t pools_in(uintptr_t backing, pools_visit *visit, void *arg);

/* Visits all blocks. */
void pools_each(pools_visit *visit, void *arg);

/* In a forked child. */
void pools_after_fork(void);

/* For tests: number of the table's entries that held a block and can serve no other yet. */
uint32_t pools_gone(void);

#endif
