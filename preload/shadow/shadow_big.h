/*
 * shadow_big.h: the part of the shadow map for large blocks (shadow.h).
 *
 * One entry for each 32 KiB of addresses. A block may be stored here if no other block stored here
 * begins in the same 32 KiB: any block of 32 KiB and more may. Thread-safety as in shadow.h.
 */
#ifndef FLAME_PRELOAD_SHADOW_SHADOW_BIG_H
#define FLAME_PRELOAD_SHADOW_SHADOW_BIG_H

#include "preload/shadow/shadow.h"

#define SHADOW_BIG_SHIFT 15
#define SHADOW_BIG ((uint64_t)1 << SHADOW_BIG_SHIFT)

/* Like shadow_put, shadow_take, shadow_find and shadow_walk. */
bool shadow_big_put(uintptr_t addr, struct block b);
bool shadow_big_take(uintptr_t addr, struct block *out);
bool shadow_big_find(uintptr_t addr, struct block *out);
/* The block that contains `addr` and begins at `lowest` or after it; if there is none, *start does
 * not change. */
bool shadow_big_around(uintptr_t addr, uintptr_t lowest, uintptr_t *start, struct block *out);
void shadow_big_walk(void (*visit)(uintptr_t addr, const struct block *b, void *arg), void *arg);

#endif
