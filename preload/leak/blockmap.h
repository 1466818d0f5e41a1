/*
 * blockmap.h: map of the live blocks by address, made for one scan of memory: which block a word
 * points to, and which blocks have been reached so far.
 *
 * 32 bytes for 64 granules of addresses (16 bytes each; 8 where an allocator hands out blocks at
 * odd multiples of 8): a word is looked up in one cache line. Memory: 3 % of the heap's addresses,
 * freed by blockmap_free.
 *
 * For one thread, while no other allocates or frees: the others are stopped (stop_the_world.h), or
 * there are none. No malloc.
 */
#ifndef FLAME_PRELOAD_LEAK_BLOCKMAP_H
#define FLAME_PRELOAD_LEAK_BLOCKMAP_H

#include <stdbool.h>

#include "preload/shadow/shadow.h"
#include "common/processor/processor.h"

/* State of the blocks that begin in 64 granules. A block's bit in each word is that of the
 * granule it begins in. */
struct blockmap_line {
    uint64_t starts;  /* a block begins here */
    uint64_t reached; /* reached by a chain of pointers to blocks' beginnings */
    uint64_t inner;   /* reached by a pointer to its inside */
    uintptr_t before; /* last block that begins before these granules; 0: none */
};

#define BLOCKMAP_CHUNK_SHIFT 20
#define BLOCKMAP_REGION_SHIFT 30
#define BLOCKMAP_CHUNKS ((size_t)1 << (BLOCKMAP_REGION_SHIFT - BLOCKMAP_CHUNK_SHIFT))
#define BLOCKMAP_REGIONS ((size_t)1 << (PROCESSOR_ADDRESS_BITS - BLOCKMAP_REGION_SHIFT))

/* Address of the lines of a MiB of addresses. With bit 0 set: no block begins in this MiB, and the
 * other bits are the last block before it. 0: no block begins or lies in this MiB. */
typedef uintptr_t blockmap_chunk;

struct blockmap {
    unsigned granule;         /* log2 of its bytes: 4 or 3 */
    uintptr_t lo, hi, span;   /* all blocks lie in [lo, hi); span is its length */
    uint64_t blocks, bytes;   /* number of blocks, and the sum of their requested sizes */
    blockmap_chunk **regions; /* BLOCKMAP_REGIONS of them, each NULL or BLOCKMAP_CHUNKS */
    uint64_t *used;           /* a bit for each region that is not NULL */
    struct blockmap_slab *slabs;
    /* Called for each block as it is found, in no order; perhaps twice. */
    void (*found)(uintptr_t addr, const struct block *b);
    bool failed, odd;
};

/* `found` may be NULL. False: no memory, and nothing has to be freed. */
bool blockmap_make(struct blockmap *m, void (*found)(uintptr_t addr, const struct block *b));
void blockmap_free(struct blockmap *m);

/* The chunk of an address below 2^PROCESSOR_ADDRESS_BITS, 0 when no block begins or lies there. */
static inline blockmap_chunk blockmap_chunk_of(const struct blockmap *m, uintptr_t addr)
{
    const blockmap_chunk *region = m->regions[addr >> BLOCKMAP_REGION_SHIFT];

    return region ? region[addr >> BLOCKMAP_CHUNK_SHIFT & (BLOCKMAP_CHUNKS - 1)] : 0;
}

static inline struct blockmap_line *blockmap_line_in(const struct blockmap *m, blockmap_chunk chunk,
                                                     uintptr_t addr)
{
    return (struct blockmap_line *)chunk +
           ((addr & (((uintptr_t)1 << BLOCKMAP_CHUNK_SHIFT) - 1)) >> (m->granule + 6));
}

static inline uint64_t blockmap_bit(const struct blockmap *m, uintptr_t addr)
{
    return (uint64_t)1 << (addr >> m->granule & 63);
}

/* The first, and the last, of the blocks whose bits of a line are set (one at least is);
 * `first` is the address of the line's first granule. */
static inline uintptr_t blockmap_first(const struct blockmap *m, uintptr_t first, uint64_t bits)
{
    return first + ((uintptr_t)__builtin_ctzll(bits) << m->granule);
}

static inline uintptr_t blockmap_last(const struct blockmap *m, uintptr_t first, uint64_t bits)
{
    return first + ((uintptr_t)(63 - __builtin_clzll(bits)) << m->granule);
}

/* The line of a block that is known to begin at `addr`. */
static inline struct blockmap_line *blockmap_line(const struct blockmap *m, uintptr_t addr)
{
    return blockmap_line_in(m, blockmap_chunk_of(m, addr), addr);
}

/* The beginning of the block that `addr` lies in, at any of its bytes; that of an empty block
 * for its first address. 0: it lies in no block. */
uintptr_t blockmap_find(const struct blockmap *m, uintptr_t addr);

/* Number of bytes of addresses that a line is for. */
static inline uintptr_t blockmap_line_size(const struct blockmap *m)
{
    return (uintptr_t)64 << m->granule;
}

/* The first line with blocks at or after *at. *at becomes the address of its first granule.
 * NULL: there is none. */
struct blockmap_line *blockmap_next(const struct blockmap *m, uintptr_t *at);

/* Calls `visit` for each line with blocks, in the order of addresses; `first` is the address of
 * the line's first granule. */
void blockmap_each(struct blockmap *m,
                   void (*visit)(struct blockmap_line *line, uintptr_t first, void *arg),
                   void *arg);

#endif
