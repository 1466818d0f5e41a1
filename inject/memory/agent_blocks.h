/*
 * agent_blocks.h: the live blocks that the agent knows, read from the process's memory, in the
 * order of their addresses, with an index by address.
 *
 * The memory belongs to the process, so it may hold anything: blocks with impossible facts are left
 * out, and blocks may overlap. Memory: 25 bytes a block, and 32 bytes for each KiB of addresses
 * with blocks. Not thread-safe.
 */
#ifndef FLAME_INJECT_MEMORY_AGENT_BLOCKS_H
#define FLAME_INJECT_MEMORY_AGENT_BLOCKS_H

#include "common/compiler.h"
#include "common/processor/processor.h"
#include "inject/memory/procmem.h"

struct agent_leaf;
struct libc_block;

struct agent_block {
    uintptr_t addr;
    uint64_t size; /* the requested size */
    uint32_t row;  /* the agent's number of its stack; 0: it is none of the agent's */
};

/* The blocks that begin in 64 granules of 8 bytes. */
struct agent_blocks_line {
    uint64_t starts; /* a bit for each granule in which a block begins */
    uint32_t before; /* number of blocks that begin before these granules */
};

#define AGENT_BLOCKS_NONE UINT32_MAX
#define AGENT_BLOCKS_REGION_SHIFT 30
#define AGENT_BLOCKS_CHUNK_SHIFT 20
#define AGENT_BLOCKS_LINE_SHIFT 9
#define AGENT_BLOCKS_REGIONS ((size_t)1 << (PROCESSOR_ADDRESS_BITS - AGENT_BLOCKS_REGION_SHIFT))
#define AGENT_BLOCKS_CHUNKS ((size_t)1 << (AGENT_BLOCKS_REGION_SHIFT - AGENT_BLOCKS_CHUNK_SHIFT))
#define AGENT_BLOCKS_LINES ((size_t)1 << (AGENT_BLOCKS_CHUNK_SHIFT - AGENT_BLOCKS_LINE_SHIFT))

struct agent_blocks {
    struct agent_block *block; /* by address */
    size_t n, room;
    uintptr_t lo, span; /* all of them lie in [lo, lo + span) */
    /* Addresses of the lines of a MiB each. With bit 0 set: no block begins there, and the other
     * bits are the number of blocks before it. 0: no block begins or lies there. */
    uintptr_t **regions; /* AGENT_BLOCKS_REGIONS of them, each NULL or AGENT_BLOCKS_CHUNKS */
    size_t chunks;       /* number of MiB in which blocks begin */
};

/* Reads the blocks in these leaves of the agent's shadow map, whose number is `n`. To be called
 * while all threads are stopped, or with a copy made then. False: they cannot be read, are 2^26 or
 * more, or begin in more than 2^16 different MiB. */
bool agent_blocks_read(struct agent_blocks *b, const struct procmem *m,
                       const struct agent_leaf *leaves, size_t n);
/* Reads `nold` other blocks as well. Where the agent knows a block at such an address, it stays. */
bool agent_blocks_read_all(struct agent_blocks *b, const struct procmem *m,
                           const struct agent_leaf *leaves, size_t n, const struct libc_block *old,
                           size_t nold);
void agent_blocks_release(struct agent_blocks *b);

/* Whether a block of these leaves may begin in [lo, hi). */
bool agent_blocks_may_begin(const struct procmem *m, const struct agent_leaf *leaves, size_t n,
                            uintptr_t lo, uintptr_t hi);

/* Lines in which a block may contain `addr`; as an element of `regions`. */
static inline uintptr_t agent_blocks_chunk(const struct agent_blocks *b, uintptr_t addr)
{
    const uintptr_t *region;

    if (addr - b->lo >= b->span)
        return 0;
    region = b->regions[addr >> AGENT_BLOCKS_REGION_SHIFT];
    return region ? region[addr >> AGENT_BLOCKS_CHUNK_SHIFT & (AGENT_BLOCKS_CHUNKS - 1)] : 0;
}

static inline const struct agent_blocks_line *agent_blocks_line(uintptr_t chunk, uintptr_t addr)
{
    return (const struct agent_blocks_line *)chunk +
           (addr >> AGENT_BLOCKS_LINE_SHIFT & (AGENT_BLOCKS_LINES - 1));
}

static inline uint64_t agent_blocks_bit(uintptr_t addr)
{
    return (uint64_t)1 << (addr >> 3 & 63);
}

/* The agent's numbers of the blocks' stacks are smaller than this. */
uint32_t agent_blocks_rows(const struct agent_blocks *b);

/* Number of the block that contains `addr`, at any of its bytes, or that is empty and begins there.
 * AGENT_BLOCKS_NONE: there is none. */
uint32_t agent_blocks_find(const struct agent_blocks *b, uintptr_t addr);

/* Number of the first block that begins at `addr` or after it; b->n if there is none. */
size_t agent_blocks_from(const struct agent_blocks *b, uintptr_t addr);

#endif
