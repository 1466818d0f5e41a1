/*
 * The blocks are read leaf by leaf, in no order of addresses. Their beginnings are bits in the
 * index, and counting the bits gives each block its place, so nothing is sorted.
 */
#include "inject/memory/agent_blocks.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "inject/agent/agent.h"
#include "inject/memory/libc_heap.h"
#include "preload/runtime/upper_bound.h"
#include "preload/shadow/shadow_leaves.h"
#include "preload/shadow/shadow_slots.h"

#define CHUNK ((uintptr_t)1 << AGENT_BLOCKS_CHUNK_SHIFT)
#define BLOCKS_MOST ((size_t)1 << 26) /* flame needs 70 bytes for each */
#define CHUNKS_MOST ((size_t)1 << 16) /* and 32 KiB for each MiB in which blocks begin */

static void add(struct agent_blocks *b, uintptr_t addr, const struct block *found)
{
    const uintptr_t end = (uintptr_t)1 << PROCESSOR_ADDRESS_BITS;

    if (addr >= end || found->size >= end - addr || addr & 7 || !found->row ||
        found->row >= AGENT_STACKS || b->n == BLOCKS_MOST)
        return;
    GROW(b->block, b->n, b->room);
    b->block[b->n++] = (struct agent_block){.addr = addr, .size = found->size, .row = found->row};
}

static void add_small(struct agent_blocks *b, const uint32_t *slots, uintptr_t base)
{
    struct block found;

    for (size_t i = 0; i < SHADOW_LEAF_SLOTS; i++)
        if (slots[i] && shadow_slots_read(slots + i, &found))
            add(b, base + (i << SHADOW_GRANULE_SHIFT), &found);
}

/* An entry is only believed if the block begins in the 32 KiB that it is for: otherwise a leaf
 * could name blocks all over the address space. */
static void add_big(struct agent_blocks *b, const struct shadow_big_entry *e, uintptr_t base)
{
    for (size_t i = 0; i < SHADOW_BIG_LEAF_SLOTS; i++) {
        struct block found = {.row = (uint32_t)(e[i].value >> SHADOW_SIZE_BITS),
                              .size = e[i].value & SHADOW_SIZE_ESCAPE};

        if ((e[i].addr - base) >> SHADOW_BIG_SHIFT != i || e[i].addr & 1)
            continue;
        if (found.size == SHADOW_SIZE_ESCAPE && i + 1 < SHADOW_BIG_LEAF_SLOTS)
            found.size = e[i + 1].value;
        add(b, e[i].addr, &found);
    }
}

static bool read_leaves(struct agent_blocks *b, const struct procmem *m,
                        const struct agent_leaf *leaves, size_t n)
{
    /* One slot more: a long block's second slot is never beyond its leaf, but the memory may hold
     * anything. */
    const size_t small = SHADOW_LEAF_SLOTS * sizeof(uint32_t),
                 big = SHADOW_BIG_LEAF_SLOTS * sizeof(struct shadow_big_entry);
    void *leaf = xcalloc(1, small + sizeof(uint32_t));
    bool ok = true;

    _Static_assert(SHADOW_LEAF_SLOTS * sizeof(uint32_t) >=
                       SHADOW_BIG_LEAF_SLOTS * sizeof(struct shadow_big_entry),
                   "either kind of leaf fits");
    for (size_t i = 0; i < n && ok; i++) {
        if (leaves[i].kind == SHADOW_LEAF_SMALL) {
            ok = procmem_read(m, (uintptr_t)leaves[i].leaf, leaf, small);
            if (ok)
                add_small(b, leaf, leaves[i].base);
        } else if (leaves[i].kind == SHADOW_LEAF_BIG) {
            ok = procmem_read(m, (uintptr_t)leaves[i].leaf, leaf, big);
            if (ok)
                add_big(b, leaf, leaves[i].base);
        }
    }
    free(leaf);
    return ok && b->n < BLOCKS_MOST;
}

/* Whether any of the slots for [lo, hi) is in use. A leaf has a slot of `size` bytes for each
 * 2^shift bytes of addresses. */
static bool any_slot(const struct procmem *m, const struct agent_leaf *leaf, uintptr_t lo,
                     uintptr_t hi, unsigned shift, size_t size)
{
    uintptr_t first = (lo - leaf->base) >> shift, after = ((hi - 1 - leaf->base) >> shift) + 1;
    size_t bytes = (after - first) * size;
    uint8_t *slots = xmalloc(bytes);
    bool any = procmem_read(m, (uintptr_t)leaf->leaf + first * size, slots, bytes) &&
               (slots[0] || memcmp(slots, slots + 1, bytes - 1) != 0);

    free(slots);
    return any;
}

bool agent_blocks_may_begin(const struct procmem *m, const struct agent_leaf *leaves, size_t n,
                            uintptr_t lo, uintptr_t hi)
{
    for (size_t i = 0; i < n; i++) {
        bool small = leaves[i].kind == SHADOW_LEAF_SMALL;
        uintptr_t from = leaves[i].base,
                  to = from + ((uintptr_t)1 << (small ? SHADOW_LEAF_SHIFT : SHADOW_BIG_LEAF_SHIFT));

        if (leaves[i].kind != SHADOW_LEAF_SMALL && leaves[i].kind != SHADOW_LEAF_BIG)
            continue;
        from = from > lo ? from : lo;
        to = to < hi ? to : hi;
        if (from < to &&
            any_slot(m, &leaves[i], from, to, small ? SHADOW_GRANULE_SHIFT : SHADOW_BIG_SHIFT,
                     small ? sizeof(uint32_t) : sizeof(struct shadow_big_entry)))
            return true;
    }
    return false;
}

/* ---- the index ---- */

static uintptr_t *want_chunk(struct agent_blocks *b, uintptr_t addr)
{
    uintptr_t **region = &b->regions[addr >> AGENT_BLOCKS_REGION_SHIFT];

    if (!*region)
        *region = xcalloc(AGENT_BLOCKS_CHUNKS, sizeof **region);
    return &(*region)[addr >> AGENT_BLOCKS_CHUNK_SHIFT & (AGENT_BLOCKS_CHUNKS - 1)];
}

static struct agent_blocks_line *want_line(struct agent_blocks *b, uintptr_t addr)
{
    uintptr_t *chunk = want_chunk(b, addr);

    if (!*chunk) {
        if (b->chunks++ == CHUNKS_MOST)
            return NULL;
        *chunk = (uintptr_t)xcalloc(AGENT_BLOCKS_LINES, sizeof(struct agent_blocks_line));
    }
    return (struct agent_blocks_line *)*chunk +
           (addr >> AGENT_BLOCKS_LINE_SHIFT & (AGENT_BLOCKS_LINES - 1));
}

/* Sets the blocks' bits. Of several blocks at one address the first one stays. False: they lie too
 * far apart. */
static bool set_bits(struct agent_blocks *b)
{
    uintptr_t lo = UINTPTR_MAX, hi = 0;
    size_t n = 0;

    for (size_t i = 0; i < b->n; i++) {
        const struct agent_block *block = &b->block[i];
        struct agent_blocks_line *line = want_line(b, block->addr);
        uintptr_t end = block->addr + (block->size ? block->size : 1);

        if (!line)
            return false;
        if (line->starts & agent_blocks_bit(block->addr))
            continue;
        line->starts |= agent_blocks_bit(block->addr);
        lo = block->addr < lo ? block->addr : lo;
        hi = end > hi ? end : hi;
        b->block[n++] = *block;
    }
    b->n = n;
    b->lo = lo;
    b->span = n ? hi - lo : 0;
    return true;
}

/* Counts the blocks before each line. */
static void count_bits(struct agent_blocks *b)
{
    uint32_t before = 0;

    for (size_t r = 0; r < AGENT_BLOCKS_REGIONS; r++)
        for (size_t c = 0; b->regions[r] && c < AGENT_BLOCKS_CHUNKS; c++) {
            struct agent_blocks_line *line = (struct agent_blocks_line *)b->regions[r][c];

            for (size_t i = 0; line && i < AGENT_BLOCKS_LINES; i++) {
                line[i].before = before;
                before += (uint32_t)__builtin_popcountll(line[i].starts);
            }
        }
}

/* Number of the block that begins at `addr`, which one does. */
static uint32_t number_of(const struct agent_blocks *b, uintptr_t addr)
{
    const struct agent_blocks_line *line = agent_blocks_line(agent_blocks_chunk(b, addr), addr);

    return line->before +
           (uint32_t)__builtin_popcountll(line->starts & (agent_blocks_bit(addr) - 1));
}

static void put_in_order(struct agent_blocks *b)
{
    struct agent_block *ordered = xreallocarray(NULL, b->n + 1, sizeof *ordered);

    for (size_t i = 0; i < b->n; i++)
        ordered[number_of(b, b->block[i].addr)] = b->block[i];
    free(b->block);
    b->block = ordered;
    b->room = b->n + 1;
}

/* Marks the chunks that a large block reaches into and in which no block begins. */
static void cover(struct agent_blocks *b)
{
    for (size_t i = 0; i < b->n; i++) {
        uintptr_t end = b->block[i].addr + b->block[i].size;

        for (uintptr_t at = (b->block[i].addr & -CHUNK) + CHUNK; at < end; at += CHUNK) {
            uintptr_t *chunk = want_chunk(b, at);

            if (*chunk)
                break;
            *chunk = (uintptr_t)(i + 1) << 1 | 1;
        }
    }
}

bool agent_blocks_read(struct agent_blocks *b, const struct procmem *m,
                       const struct agent_leaf *leaves, size_t n)
{
    return agent_blocks_read_all(b, m, leaves, n, NULL, 0);
}

static bool add_old(struct agent_blocks *b, const struct libc_block *old, size_t n)
{
    const uintptr_t end = (uintptr_t)1 << PROCESSOR_ADDRESS_BITS;

    for (size_t i = 0; i < n && b->n < BLOCKS_MOST; i++) {
        if (old[i].addr >= end || old[i].size >= end - old[i].addr)
            continue;
        GROW(b->block, b->n, b->room);
        b->block[b->n++] = (struct agent_block){.addr = old[i].addr, .size = old[i].size};
    }
    return b->n < BLOCKS_MOST;
}

bool agent_blocks_read_all(struct agent_blocks *b, const struct procmem *m,
                           const struct agent_leaf *leaves, size_t n, const struct libc_block *old,
                           size_t nold)
{
    *b = (struct agent_blocks){.n = 0};
    b->regions = xcalloc(AGENT_BLOCKS_REGIONS, sizeof *b->regions);
    if (!read_leaves(b, m, leaves, n) || !add_old(b, old, nold) || !set_bits(b))
        return false;
    count_bits(b);
    put_in_order(b);
    cover(b);
    return true;
}

void agent_blocks_release(struct agent_blocks *b)
{
    for (size_t r = 0; b->regions && r < AGENT_BLOCKS_REGIONS; r++) {
        for (size_t c = 0; b->regions[r] && c < AGENT_BLOCKS_CHUNKS; c++)
            if (!(b->regions[r][c] & 1))
                free((void *)b->regions[r][c]);
        free(b->regions[r]);
    }
    free(b->regions);
    free(b->block);
    *b = (struct agent_blocks){.n = 0};
}

/* ---- finding ---- */

/* Number of blocks that begin at `addr` or before it, of those in its chunk's neighbourhood. */
static size_t begun(uintptr_t chunk, uintptr_t addr)
{
    const struct agent_blocks_line *line;
    uint64_t bit = agent_blocks_bit(addr);

    if (chunk & 1)
        return chunk >> 1;
    line = agent_blocks_line(chunk, addr);
    return line->before + (size_t)__builtin_popcountll(line->starts & (bit | (bit - 1)));
}

uint32_t agent_blocks_find(const struct agent_blocks *b, uintptr_t addr)
{
    uintptr_t chunk = agent_blocks_chunk(b, addr);
    size_t n = chunk ? begun(chunk, addr) : 0;
    const struct agent_block *block = n ? &b->block[n - 1] : NULL;

    if (!block || (addr != block->addr && addr - block->addr >= block->size))
        return AGENT_BLOCKS_NONE;
    return (uint32_t)(n - 1);
}

size_t agent_blocks_from(const struct agent_blocks *b, uintptr_t addr)
{
    return addr ? upper_bound(&b->block->addr, b->n, sizeof *b->block, addr - 1) : 0;
}

uint32_t agent_blocks_rows(const struct agent_blocks *b)
{
    uint32_t most = 0;

    for (size_t i = 0; i < b->n; i++)
        most = b->block[i].row > most ? b->block[i].row : most;
    return most + 1;
}
