/*
 * shadow.h: what we know of each live block, found by its address.
 *
 * A radix tree over the address space with one 4-byte slot for each 16-byte
 * granule; a block over 16 bytes has two. Slots are written only by the thread that
 * owns the block at that moment (it has just got it from malloc, or is about to
 * give it to free), and blocks do not overlap, so no lock and no atomic operation
 * is needed beyond those that install a new leaf. Blocks at odd multiples of 8
 * (8-byte classes of jemalloc and tcmalloc) have a second tree of their own: two
 * blocks never share a slot. Blocks of 32 KiB and more have a table with one entry
 * for each 32 KiB of addresses.
 *
 * Memory: a quarter of a byte of shadow a byte of small blocks, in pages touched only
 * where blocks begin; 16 bytes a large block. Thread-safe as described.
 */
#ifndef FLAME_PRELOAD_SHADOW_SHADOW_H
#define FLAME_PRELOAD_SHADOW_SHADOW_H

#include <stdbool.h>

#include "common/compiler.h"

/* Rows fit in 26 bits; 0 is never a row. */
#define SHADOW_ROW_MAX ((1u << 26) - 1)

struct block {
    uint32_t row;
    uint64_t size; /* bytes asked for */
};

/* Remembers the block at `addr`. False when it cannot be remembered: no memory
 * for the leaf, or an address below 8-byte alignment or above 2^PROCESSOR_ADDRESS_BITS. */
bool shadow_put(uintptr_t addr, struct block b);

/* Forgets the block at `addr` and says what it was. False when there is none. */
bool shadow_take(uintptr_t addr, struct block *out);

/* What the block at `addr` is, which stays remembered. False when there is none. */
bool shadow_find(uintptr_t addr, struct block *out);

/* The block that `addr` lies in, which begins at *start. False when none is found; of blocks of
 * GiBs only the first 4. Slow: it looks at what is before it, one address after another. */
bool shadow_find_around(uintptr_t addr, uintptr_t *start, struct block *out);

/* The same, where no block can begin below `lowest`. *start is not 0 if false is returned and a
 * block begins in the 32 KiB before, which ends before `addr`. */
bool shadow_find_from(uintptr_t addr, uintptr_t lowest, uintptr_t *start, struct block *out);

/* Asks for the memory that shadow_find(addr) will read. */
void shadow_prefetch(uintptr_t addr);

/* Few blocks will be remembered, far apart (sampling): do not make room for all. */
void shadow_expect_few(void);

/* Visits every block that is remembered, in no order, and changes nothing. Single-threaded:
 * for a forked child that has just begun. */
void shadow_walk(void (*visit)(uintptr_t addr, const struct block *b, void *arg), void *arg);

/* The bytes of addresses that a leaf of small blocks is for, from a multiple of them on; those who
 * begin in it are smaller than SHADOW_SMALL. */
#define SHADOW_SPAN ((uintptr_t)8 << 20)
#define SHADOW_SMALL ((uintptr_t)32 << 10)

/*
 * Visits every block twice: small ones a second time when all in their leaf have been visited
 * once, while what is known of them is still in the cache; the others before and after all of
 * those. Otherwise as shadow_walk.
 */
void shadow_walk_twice(void (*first)(uintptr_t addr, const struct block *b, void *arg),
                       void (*second)(uintptr_t addr, const struct block *b, void *arg), void *arg);

#endif
