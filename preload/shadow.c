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
 * A slot is row << 38 | size.
 *
 * Blocks of 32 KiB and more lie in a table of their own with one entry for each
 * 32 KiB of addresses: no two of them can begin in the same one. So a large block
 * costs 16 bytes and not the page of small slots that its first bytes would touch.
 * A size over 38 bits stands in the entry behind, which the block covers too.
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

#define BIG_SHIFT 15
#define BIG_BLOCK ((uint64_t)1 << BIG_SHIFT)
#define BIG_LEAF_SHIFT 30
#define BIG_LEAF_SLOTS ((size_t)1 << (BIG_LEAF_SHIFT - BIG_SHIFT))
#define BIG_ROOT_SLOTS ((size_t)1 << (ADDRESS_BITS - BIG_LEAF_SHIFT))

struct leaf {
    uint64_t slots[LEAF_SLOTS];
};

struct middle {
    struct leaf *leaves[MIDDLE_SLOTS];
};

/* `addr` 0: nothing begins here. Odd: the size of the block before, in `value`. */
struct big {
    uintptr_t addr;
    uint64_t value;
};

struct big_leaf {
    struct big entries[BIG_LEAF_SLOTS];
};

static struct middle *roots[2][ROOT_SLOTS];
static struct big_leaf *big_roots[BIG_ROOT_SLOTS];
static bool sparse;

void shadow_expect_few(void)
{
    sparse = true;
}

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
        if (size <= SMALL_BLOCK && !sparse)
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

/* ---- large blocks ---- */

static struct big *find_big(uintptr_t addr)
{
    struct big_leaf *leaf;

    if (addr >> ADDRESS_BITS || addr & 7)
        return NULL;
    leaf = __atomic_load_n(&big_roots[addr >> BIG_LEAF_SHIFT], __ATOMIC_ACQUIRE);
    return leaf ? &leaf->entries[addr >> BIG_SHIFT & (BIG_LEAF_SLOTS - 1)] : NULL;
}

static struct big *want_big(uintptr_t addr)
{
    struct big_leaf **root;

    if (addr >> ADDRESS_BITS || addr & 7)
        return NULL;
    root = &big_roots[addr >> BIG_LEAF_SHIFT];
    if (!__atomic_load_n(root, __ATOMIC_ACQUIRE) &&
        !install((void **)root, sizeof(struct big_leaf)))
        return NULL;
    return find_big(addr);
}

static FLAME_NOINLINE bool put_big(uintptr_t addr, struct block b)
{
    struct big *entry = want_big(addr), *next;

    if (!entry)
        return false;
    if (b.size >= SIZE_ESCAPE) {
        next = want_big(addr + BIG_BLOCK);
        if (!next)
            return false;
        store(&next->value, b.size);
        __atomic_store_n(&next->addr, addr | 1, __ATOMIC_RELAXED);
        b.size = SIZE_ESCAPE;
    }
    store(&entry->value, (uint64_t)b.row << SIZE_BITS | b.size);
    __atomic_store_n(&entry->addr, addr, __ATOMIC_RELAXED);
    return true;
}

static uint64_t big_size(uintptr_t addr, uint64_t value)
{
    uint64_t size = value & SIZE_ESCAPE;
    const struct big *next = size == SIZE_ESCAPE ? find_big(addr + BIG_BLOCK) : NULL;

    return next ? load(&next->value) : size;
}

static FLAME_NOINLINE bool take_big(uintptr_t addr, struct block *out)
{
    struct big *entry = find_big(addr), *next;
    uint64_t value;

    if (!entry || __atomic_load_n(&entry->addr, __ATOMIC_RELAXED) != addr)
        return false;
    value = load(&entry->value);
    out->row = (uint32_t)(value >> SIZE_BITS);
    out->size = big_size(addr, value);
    if (out->size >= SIZE_ESCAPE && (next = find_big(addr + BIG_BLOCK)))
        __atomic_store_n(&next->addr, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&entry->addr, 0, __ATOMIC_RELAXED);
    return true;
}

/* ---- all blocks ---- */

bool shadow_put(uintptr_t addr, struct block b)
{
    uint64_t *slot;

    if (unlikely(b.size >= BIG_BLOCK))
        return put_big(addr, b);
    slot = want_slot(addr, b.size);
    if (unlikely(!slot))
        return false;
    store(slot, (uint64_t)b.row << SIZE_BITS | b.size);
    return true;
}

bool shadow_take(uintptr_t addr, struct block *out)
{
    uint64_t *slot = find_slot(addr), value = slot ? load(slot) : 0;

    if (unlikely(!value))
        return take_big(addr, out);
    store(slot, 0);
    out->row = (uint32_t)(value >> SIZE_BITS);
    out->size = value & SIZE_ESCAPE;
    return true;
}

static void walk_big(struct big_leaf *leaf, bool (*visit)(uintptr_t, struct block *, void *),
                     void *arg)
{
    for (size_t i = 0; i < BIG_LEAF_SLOTS; i++) {
        struct big *entry = &leaf->entries[i];
        struct block b;

        if (!entry->addr || entry->addr & 1)
            continue;
        b.row = (uint32_t)(entry->value >> SIZE_BITS);
        b.size = big_size(entry->addr, entry->value);
        if (visit(entry->addr, &b, arg))
            entry->value = (uint64_t)b.row << SIZE_BITS | (entry->value & SIZE_ESCAPE);
    }
}

static void walk_leaf(struct leaf *leaf, uintptr_t base,
                      bool (*visit)(uintptr_t, struct block *, void *), void *arg)
{
    for (size_t i = 0; i < LEAF_SLOTS; i++) {
        uint64_t value = leaf->slots[i];
        struct block b = {(uint32_t)(value >> SIZE_BITS), value & SIZE_ESCAPE};

        if (value && visit(base + (i << GRANULE_SHIFT), &b, arg))
            leaf->slots[i] = (uint64_t)b.row << SIZE_BITS | b.size;
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
    for (size_t r = 0; r < BIG_ROOT_SLOTS; r++)
        if (big_roots[r])
            walk_big(big_roots[r], visit, arg);
}
