/*
 * Problem: free(p) has to find what malloc(p) was, at tens of millions of calls
 * a second, from any thread.
 *
 * Algorithm: three levels by address. The root is static (8,192 entries of
 * 16 GiB), the middle maps 16 GiB in 4 MiB leaves, a leaf holds 262,144 slots, in
 * 2 MiB of memory.
 *
 *   47      34 33       22 21             4 3    0
 *   +---------+-----------+----------------+------+
 *   | root    | middle    | slot in leaf   |parity|   bit 3: which tree
 *   +---------+-----------+----------------+------+
 *
 * A slot is row << 38 | size. A size that does not fit in 38 bits puts all ones
 * there and the size itself in the next slot of the same tree, which the block
 * covers and nobody else can own.
 *
 * A heap of small blocks grows upwards and soon uses every page of its leaves, so
 * a leaf above an existing one gets all its memory at once, as one huge page where
 * the kernel has one: faults for 512 small ones cost many times as much. A leaf
 * that stands alone is left to be touched where blocks are: large blocks are
 * mapped far apart and use a page of it at most.
 *
 * Rejected: a hash table of pointers. Neighbouring blocks land on different
 * cache lines and pages; on a wide heap that alone costs over 300 ns a pair.
 */
#define _GNU_SOURCE
#include "preload/shadow.h"

#include <sys/mman.h>

#include "common/pages.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; older kernels refuse it, which is fine */
#endif

#define GRANULE_SHIFT 4
#define LEAF_SHIFT 22
#define MIDDLE_SHIFT 34
#define ADDRESS_BITS 47

#define LEAF_SLOTS ((size_t)1 << (LEAF_SHIFT - GRANULE_SHIFT))
#define MIDDLE_SLOTS ((size_t)1 << (MIDDLE_SHIFT - LEAF_SHIFT))
#define ROOT_SLOTS ((size_t)1 << (ADDRESS_BITS - MIDDLE_SHIFT))

#define SIZE_BITS 38
#define SIZE_ESCAPE (((uint64_t)1 << SIZE_BITS) - 1)

struct leaf {
    uint64_t slots[LEAF_SLOTS];
};

struct middle {
    struct leaf *leaves[MIDDLE_SLOTS];
};

static struct middle *roots[2][ROOT_SLOTS];

/* The slot of an address, or NULL when its leaf does not exist. */
static uint64_t *find_slot(uintptr_t addr)
{
    struct middle *middle;
    struct leaf *leaf;

    if (unlikely(addr >> ADDRESS_BITS || addr & 7))
        return NULL;
    middle = __atomic_load_n(&roots[addr >> 3 & 1][addr >> MIDDLE_SHIFT], __ATOMIC_ACQUIRE);
    if (unlikely(!middle))
        return NULL;
    leaf =
        __atomic_load_n(&middle->leaves[addr >> LEAF_SHIFT & (MIDDLE_SLOTS - 1)], __ATOMIC_ACQUIRE);
    if (unlikely(!leaf))
        return NULL;
    return &leaf->slots[addr >> GRANULE_SHIFT & (LEAF_SLOTS - 1)];
}

/* Zeroed memory at a multiple of its size, a power of two. */
static void *aligned_pages(size_t size)
{
    char *all = pages_alloc(2 * size), *at;
    size_t before;

    if (!all)
        return NULL;
    at = (char *)(((uintptr_t)all + size - 1) & ~(uintptr_t)(size - 1));
    before = (size_t)(at - all);
    if (before)
        pages_free(all, before);
    pages_free(at + size, size - before);
    return at;
}

/* Puts fresh memory into *where unless another thread was first. */
static void *install(void **where, size_t size)
{
    void *mine = size == sizeof(struct leaf) ? aligned_pages(size) : pages_alloc(size);
    void *theirs = NULL;

    if (!mine)
        return NULL;
    if (__atomic_compare_exchange_n(where, &theirs, mine, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return mine;
    pages_free(mine, size);
    return theirs;
}

/* A block small enough to have many neighbours. */
#define SMALL_BLOCK 4096

/* The heap is growing upwards into this leaf: see the top of the file. */
static void populate(const struct middle *middle, size_t index, struct leaf *leaf)
{
    if (index > 0 && __atomic_load_n(&middle->leaves[index - 1], __ATOMIC_RELAXED)) {
        madvise(leaf, sizeof *leaf, MADV_HUGEPAGE);
        madvise(leaf, sizeof *leaf, MADV_POPULATE_WRITE);
    }
}

static FLAME_COLD uint64_t *make_slot(uintptr_t addr, uint64_t size)
{
    struct middle **root, *middle;
    struct leaf **branch, *leaf;

    if (addr >> ADDRESS_BITS || addr & 7)
        return NULL;
    root = &roots[addr >> 3 & 1][addr >> MIDDLE_SHIFT];
    middle = __atomic_load_n(root, __ATOMIC_ACQUIRE);
    if (!middle && !(middle = install((void **)root, sizeof *middle)))
        return NULL;
    branch = &middle->leaves[addr >> LEAF_SHIFT & (MIDDLE_SLOTS - 1)];
    leaf = __atomic_load_n(branch, __ATOMIC_ACQUIRE);
    if (!leaf) {
        leaf = install((void **)branch, sizeof *leaf);
        if (!leaf)
            return NULL;
        if (size <= SMALL_BLOCK)
            populate(middle, (size_t)(branch - middle->leaves), leaf);
    }
    return &leaf->slots[addr >> GRANULE_SHIFT & (LEAF_SLOTS - 1)];
}

static uint64_t *want_slot(uintptr_t addr, uint64_t size)
{
    uint64_t *slot = find_slot(addr);

    return likely(slot != NULL) ? slot : make_slot(addr, size);
}

/* Another thread may read neighbours at the same time, never this slot; relaxed
 * atomics only keep the compiler from splitting the access. */
static void store(uint64_t *slot, uint64_t value)
{
    __atomic_store_n(slot, value, __ATOMIC_RELAXED);
}

static uint64_t load(const uint64_t *slot)
{
    return __atomic_load_n(slot, __ATOMIC_RELAXED);
}

bool shadow_put(uintptr_t addr, struct block b)
{
    uint64_t *slot = want_slot(addr, b.size);

    if (unlikely(!slot))
        return false;
    if (unlikely(b.size >= SIZE_ESCAPE)) {
        /* A quarter of a terabyte that begins in the very last slot of a leaf:
         * its size would lie in another leaf, where shadow_walk would take it
         * for a block. Allocators map such blocks at page boundaries. */
        if ((addr >> GRANULE_SHIFT & (LEAF_SLOTS - 1)) == LEAF_SLOTS - 1)
            return false;
        store(slot + 1, b.size);
        b.size = SIZE_ESCAPE;
    }
    store(slot, (uint64_t)b.row << SIZE_BITS | b.size);
    return true;
}

bool shadow_take(uintptr_t addr, struct block *out)
{
    uint64_t *slot = find_slot(addr), value;

    if (unlikely(!slot))
        return false;
    value = load(slot);
    if (unlikely(!value))
        return false;
    store(slot, 0);
    out->row = (uint32_t)(value >> SIZE_BITS);
    out->size = value & SIZE_ESCAPE;
    if (unlikely(out->size == SIZE_ESCAPE)) {
        out->size = load(slot + 1);
        store(slot + 1, 0);
    }
    return true;
}

static void walk_leaf(struct leaf *leaf, uintptr_t base,
                      bool (*visit)(uintptr_t, struct block *, void *), void *arg)
{
    for (size_t i = 0; i < LEAF_SLOTS; i++) {
        uint64_t value = leaf->slots[i];
        uintptr_t addr = base + (i << GRANULE_SHIFT);
        bool escaped = (value & SIZE_ESCAPE) == SIZE_ESCAPE;
        struct block b;

        if (!value)
            continue;
        b.row = (uint32_t)(value >> SIZE_BITS);
        b.size = escaped ? leaf->slots[i + 1] : value & SIZE_ESCAPE;
        if (visit(addr, &b, arg))
            leaf->slots[i] = (uint64_t)b.row << SIZE_BITS | (value & SIZE_ESCAPE);
        if (escaped)
            i++; /* the next slot is this block's size, not a block */
    }
}

void shadow_walk(bool (*visit)(uintptr_t addr, struct block *b, void *arg), void *arg)
{
    for (size_t tree = 0; tree < 2; tree++)
        for (size_t r = 0; r < ROOT_SLOTS; r++) {
            struct middle *middle = roots[tree][r];

            for (size_t m = 0; middle && m < MIDDLE_SLOTS; m++)
                if (middle->leaves[m])
                    walk_leaf(middle->leaves[m],
                              (uintptr_t)r << MIDDLE_SHIFT | (uintptr_t)m << LEAF_SHIFT | tree << 3,
                              visit, arg);
        }
}
