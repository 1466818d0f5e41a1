/*
 * birthmap.h: time of allocation of each live block, by address. The time is a number of the
 * caller's (preload/sidetables/age_clock.h); the map exists only if lifetimes are recorded.
 *
 * Like in the shadow map, the owner of the block at that moment writes its slot. So there is no
 * lock, and no atomic operation except those that install a part of the map. A forked child has its
 * parent's map. Memory: 8 bytes for each 16 of addresses, in pages that are touched only where
 * blocks begin: half the size of small blocks, and a page for a block with its own mapping. No
 * malloc.
 */
#ifndef FLAME_PRELOAD_SIDETABLES_BIRTHMAP_H
#define FLAME_PRELOAD_SIDETABLES_BIRTHMAP_H

#include <stdbool.h>

#include "common/compiler.h"

/* Makes the map. False: no memory. Must come before the functions below. */
bool births_begin(void);

/* Stores that the block at `addr` was allocated at `when`, which is not 0. Nothing is stored for
 * addresses that the shadow map cannot hold, or if there is no memory. */
void births_put(uintptr_t addr, uint64_t when);

/* The last time stored for `addr`, also if that block has been freed. 0: not known. */
uint64_t births_at(uintptr_t addr);

#endif
