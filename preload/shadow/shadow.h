/*
 * shadow.h: row and size of each live block, by its address.
 *
 * A radix tree over the address space with one 4-byte slot for each 16-byte granule; a block over
 * 16 bytes has two. Slots are written only by the thread that owns the block at that moment: it has
 * just got it from malloc, or is about to pass it to free. Blocks do not overlap. So no lock and no
 * atomic operation is needed beyond those that install a new leaf. Blocks at odd multiples of 8
 * (8-byte classes of jemalloc and tcmalloc) have a second tree of their own: two blocks never share
 * a slot. Blocks of 32 KiB and more have a table with one entry for each 32 KiB of addresses.
 *
 * Memory: a quarter of a byte of shadow for each byte of small blocks, in pages touched only where
 * blocks begin; 16 bytes a large block. Thread-safe as described.
 */
#ifndef FLAME_PRELOAD_SHADOW_SHADOW_H
#define FLAME_PRELOAD_SHADOW_SHADOW_H

#include <stdbool.h>

#include "common/compiler.h"

/* Rows fit in 26 bits; 0 is never a row. */
#define SHADOW_ROW_MAX ((1u << 26) - 1)

struct block {
    uint32_t row;
    uint64_t size; /* the requested size */
};

/* Enters the block at `addr`. False: there is no memory for the leaf, or the address is not aligned
 * to 8 bytes or not below 2^PROCESSOR_ADDRESS_BITS. */
bool shadow_put(uintptr_t addr, struct block b);

/* Removes the block at `addr`, and returns it in *out. False: there is none. */
bool shadow_take(uintptr_t addr, struct block *out);

/* Finds the block at `addr`, which stays in the map. False: there is none. */
bool shadow_find(uintptr_t addr, struct block *out);

/* Finds the block that contains `addr`; it begins at *start. False: none is found. In a block of
 * several GiB only the first 4 GiB are found. Slow: it tries one address after another before
 * `addr`. */
bool shadow_find_around(uintptr_t addr, uintptr_t *start, struct block *out);

/* Like shadow_find_around, if no block can begin below `lowest`. If it returns false, *start is not
 * 0 if a block begins in the 32 KiB before `addr` and ends before it. */
bool shadow_find_from(uintptr_t addr, uintptr_t lowest, uintptr_t *start, struct block *out);

/* Prefetches the memory that shadow_find(addr) will read. */
void shadow_prefetch(uintptr_t addr);

/* Sets that blocks are few and far apart (sampling), so leaves do not get all their memory at
 * once. */
void shadow_expect_few(void);

/* Visits every block in the map, in no order, and changes nothing. No other thread may use the map:
 * for a forked child that has just begun, or while other threads are stopped. */
void shadow_walk(void (*visit)(uintptr_t addr, const struct block *b, void *arg), void *arg);

/* Size of the address range that a leaf of small blocks covers, and its alignment. Blocks in a leaf
 * are smaller than SHADOW_SMALL. */
#define SHADOW_SPAN ((uintptr_t)8 << 20)
#define SHADOW_SMALL ((uintptr_t)32 << 10)

/*
 * Visits every block twice. A small block is visited a second time after all in its leaf have been
 * visited once, while the leaf is still in the cache. The other blocks are visited before and after
 * all small ones. Otherwise like shadow_walk.
 */
void shadow_walk_twice(void (*first)(uintptr_t addr, const struct block *b, void *arg),
                       void (*second)(uintptr_t addr, const struct block *b, void *arg), void *arg);

#endif
