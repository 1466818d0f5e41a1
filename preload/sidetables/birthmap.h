/*
 * birthmap.h: when each live block was allocated, by its address: a number that the caller makes of
 * it (preload/sidetables/age_clock.h), only where lifetimes are recorded.
 *
 * As the shadow map: slots are written by whoever owns the block at that moment, so there is no
 * lock and no atomic operation but those that install a part of the map. A forked child has its
 * parent's. Memory: 8 bytes for each 16 of addresses, in pages that are touched only where blocks
 * begin: half of what small blocks take, a page for a block of its own mapping. No malloc.
 */
#ifndef FLAME_PRELOAD_SIDETABLES_BIRTHMAP_H
#define FLAME_PRELOAD_SIDETABLES_BIRTHMAP_H

#include <stdbool.h>

#include "common/compiler.h"

/* False: no memory. Until then the others must not be called. */
bool births_begin(void);

/* The block at `addr` was allocated at `when`, which is not 0. What the shadow map cannot remember
 * is not here either, and neither is what there is no memory for. */
void births_put(uintptr_t addr, uint64_t when);

/* 0: not known. What was put there last, also for blocks that have been freed. */
uint64_t births_at(uintptr_t addr);

#endif
