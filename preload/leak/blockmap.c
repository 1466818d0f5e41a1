/*
 * The shadow map is walked once to set the bits of `starts`. A second pass over the lines alone
 * stores the last block before each line, and before each chunk without lines. So the beginning of
 * a large block is found at once from a pointer into it.
 */
#include "preload/leak/blockmap.h"

#include <sys/mman.h>

#include "common/pages.h"

#define SLAB_SIZE ((size_t)8 << 20)
#define CHUNK_SIZE ((uintptr_t)1 << BLOCKMAP_CHUNK_SHIFT)
/* The regions' pointers, followed by a bit for each: reading all pointers would touch 256 pages,
 * most of them for the first time. */
#define POINTERS_SIZE (BLOCKMAP_REGIONS * sizeof(blockmap_chunk *))
#define REGIONS_SIZE (POINTERS_SIZE + BLOCKMAP_REGIONS / 8)

/* Memory that is freed as a whole. */
struct blockmap_slab {
    struct blockmap_slab *next;
    size_t used;
};

static void *take(struct blockmap *m, size_t size)
{
    struct blockmap_slab *slab = m->slabs;

    if (!slab || SLAB_SIZE - slab->used < size) {
        slab = pages_alloc(SLAB_SIZE);
        if (!slab) {
            m->failed = true;
            return NULL;
        }
        /* The heap is large: look-ups of pointers all over it miss the TLB, too. */
        if (m->slabs)
            pages_advise(slab, SLAB_SIZE, MADV_HUGEPAGE);
        slab->next = m->slabs;
        slab->used = sizeof(struct blockmap_line); /* lines do not cross cache lines */
        m->slabs = slab;
    }
    slab->used += size;
    return (char *)slab + slab->used - size;
}

static size_t lines_of_chunk(const struct blockmap *m)
{
    return CHUNK_SIZE >> (m->granule + 6);
}

static blockmap_chunk *want_chunk(struct blockmap *m, uintptr_t addr)
{
    size_t r = addr >> BLOCKMAP_REGION_SHIFT;
    blockmap_chunk **region = &m->regions[r];

    if (!*region && !(*region = take(m, BLOCKMAP_CHUNKS * sizeof **region)))
        return NULL;
    m->used[r / 64] |= (uint64_t)1 << r % 64;
    return &(*region)[addr >> BLOCKMAP_CHUNK_SHIFT & (BLOCKMAP_CHUNKS - 1)];
}

static void add_block(uintptr_t addr, const struct block *b, void *arg)
{
    struct blockmap *m = arg;
    blockmap_chunk *chunk;
    uintptr_t end = addr + b->size;

    if (m->failed || m->odd)
        return;
    if (addr & (((uintptr_t)1 << m->granule) - 1)) {
        m->odd = true;
        return;
    }
    chunk = want_chunk(m, addr);
    if (!chunk)
        return;
    if (!*chunk)
        *chunk = (uintptr_t)take(m, lines_of_chunk(m) * sizeof(struct blockmap_line));
    if (!*chunk)
        return;
    blockmap_line_in(m, *chunk, addr)->starts |= blockmap_bit(m, addr);
    m->blocks++;
    m->bytes += b->size;
    if (m->found)
        m->found(addr, b);
    if (addr < m->lo)
        m->lo = addr;
    if (end >= m->hi)
        m->hi = end + 1; /* a block of no bytes has an address, too */
}

/* Calls `visit` for each chunk with lines, in the order of addresses; `base` is the chunk's first
 * one. It may add chunks without lines. */
static void each_chunk(struct blockmap *m,
                       void (*visit)(struct blockmap *m, blockmap_chunk chunk, uintptr_t base,
                                     void *arg),
                       void *arg)
{
    for (size_t w = 0; w < BLOCKMAP_REGIONS / 64; w++)
        /* A visit adds no chunk before its own. */
        for (uint64_t done = 0, left; (left = m->used[w] & ~done) != 0; done |= left & -left) {
            size_t r = w * 64 + (size_t)__builtin_ctzll(left);

            for (size_t c = 0; c < BLOCKMAP_CHUNKS; c++) {
                blockmap_chunk chunk = m->regions[r][c];

                if (chunk && !(chunk & 1))
                    visit(m, chunk,
                          ((uintptr_t)r << BLOCKMAP_REGION_SHIFT) +
                              ((uintptr_t)c << BLOCKMAP_CHUNK_SHIFT),
                          arg);
            }
        }
}

/* ---- the last block before ---- */

static uintptr_t link_lines(const struct blockmap *m, blockmap_chunk chunk, uintptr_t base,
                            uintptr_t before)
{
    struct blockmap_line *line = (struct blockmap_line *)chunk;

    for (size_t i = 0; i < lines_of_chunk(m); i++, line++) {
        line->before = before;
        if (line->starts)
            before = blockmap_last(m, base + i * blockmap_line_size(m), line->starts);
    }
    return before;
}

/* Marks the chunks that a large block reaches into and in which no block begins. */
static void cover(struct blockmap *m, uintptr_t block)
{
    uintptr_t at = (block & -CHUNK_SIZE) + CHUNK_SIZE;
    struct block b;

    if (!block || !shadow_find(block, &b))
        return;
    for (; at < block + b.size; at += CHUNK_SIZE) {
        blockmap_chunk *chunk = want_chunk(m, at);

        if (!chunk || *chunk)
            return;
        *chunk = block | 1;
    }
}

static void link_chunk(struct blockmap *m, blockmap_chunk chunk, uintptr_t base, void *arg)
{
    uintptr_t *before = arg;

    *before = link_lines(m, chunk, base, *before);
    cover(m, *before);
}

/* ---- the whole map ---- */

void blockmap_free(struct blockmap *m)
{
    while (m->slabs) {
        struct blockmap_slab *next = m->slabs->next;

        pages_free(m->slabs, SLAB_SIZE);
        m->slabs = next;
    }
    pages_free(m->regions, REGIONS_SIZE);
    m->regions = NULL;
}

static bool make(struct blockmap *m, unsigned granule,
                 void (*found)(uintptr_t addr, const struct block *b))
{
    uintptr_t before = 0;

    *m = (struct blockmap){.granule = granule, .lo = UINTPTR_MAX, .found = found};
    m->regions = pages_alloc(REGIONS_SIZE);
    if (!m->regions)
        return false;
    m->used = (uint64_t *)((char *)m->regions + POINTERS_SIZE);
    shadow_walk(add_block, m);
    if (m->blocks && !m->odd && !m->failed)
        each_chunk(m, link_chunk, &before);
    if (!m->odd && !m->failed)
        return true;
    blockmap_free(m);
    return false;
}

bool blockmap_make(struct blockmap *m, void (*found)(uintptr_t addr, const struct block *b))
{
    bool ok = make(m, 4, found) || (m->odd && make(m, 3, found));

    if (!ok)
        return false;
    m->span = m->blocks ? m->hi - m->lo : 0;
    return true;
}

uintptr_t blockmap_find(const struct blockmap *m, uintptr_t addr)
{
    const struct blockmap_line *line;
    blockmap_chunk chunk;
    uint64_t bit, starts;
    uintptr_t block;
    struct block b;

    if (addr - m->lo >= m->span)
        return 0;
    chunk = blockmap_chunk_of(m, addr);
    if (!chunk)
        return 0;
    if (chunk & 1) {
        block = chunk & ~(uintptr_t)1;
    } else {
        line = blockmap_line_in(m, chunk, addr);
        bit = blockmap_bit(m, addr);
        starts = line->starts & (bit | (bit - 1));
        block = starts ? blockmap_last(m, addr & -blockmap_line_size(m), starts) : line->before;
    }
    if (!block || !shadow_find(block, &b))
        return 0;
    return addr == block || addr - block < b.size ? block : 0;
}

static struct blockmap_line *next_in_chunk(const struct blockmap *m, uintptr_t *at)
{
    blockmap_chunk chunk = blockmap_chunk_of(m, *at);
    uintptr_t end = (*at & -CHUNK_SIZE) + CHUNK_SIZE;

    for (; chunk && !(chunk & 1) && *at < end; *at += blockmap_line_size(m)) {
        struct blockmap_line *line = blockmap_line_in(m, chunk, *at);

        if (line->starts)
            return line;
    }
    *at = end;
    return NULL;
}

static bool region_is_used(const struct blockmap *m, uintptr_t at)
{
    size_t r = at >> BLOCKMAP_REGION_SHIFT;

    return m->used[r / 64] >> r % 64 & 1;
}

struct blockmap_line *blockmap_next(const struct blockmap *m, uintptr_t *at)
{
    const uintptr_t region = (uintptr_t)1 << BLOCKMAP_REGION_SHIFT;

    *at &= -blockmap_line_size(m);
    if (*at < m->lo)
        *at = m->lo & -blockmap_line_size(m);
    while (*at < m->hi) {
        struct blockmap_line *line;

        if (!region_is_used(m, *at))
            *at = (*at & -region) + region;
        else if ((line = next_in_chunk(m, at)))
            return line;
    }
    return NULL;
}

void blockmap_each(struct blockmap *m,
                   void (*visit)(struct blockmap_line *line, uintptr_t first, void *arg), void *arg)
{
    struct blockmap_line *line;

    for (uintptr_t at = 0; (line = blockmap_next(m, &at)); at += blockmap_line_size(m))
        visit(line, at, arg);
}
