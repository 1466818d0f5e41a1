/*
 * Problem: free(p) has to find the row and size of p's block, at tens of millions of calls a
 * second, from any thread.
 *
 * Algorithm: three levels by address. The root is static (8,192 entries of 16 GiB). The middle maps
 * 16 GiB in 8 MiB leaves. A leaf holds 524,288 slots of 4 bytes, in 2 MiB of memory.
 *
 *   47      34 33       23 22             4 3    0
 *   +---------+-----------+----------------+------+
 *   | root    | middle    | slot in leaf   |parity|   bit 3: which tree
 *   +---------+-----------+----------------+------+
 *
 * shadow_slots.h describes the slots.
 *
 * Blocks of 32 KiB and more are stored by shadow_big.c, in one entry for each 32 KiB of addresses.
 * So is a block over 16 bytes in a leaf's last slot: no large block can begin in its 32 KiB,
 * because it would overlap the block.
 *
 * A heap of small blocks grows upwards and soon uses every page of its leaves. So a leaf above an
 * existing one gets all its memory at once, as one huge page where the kernel has one: faults for
 * 512 small ones cost many times as much. A leaf that has no leaf below it is touched only where
 * blocks are: large blocks are mapped far apart and use a page of it at most.
 *
 * Rejected: a hash table of pointers, because neighbouring blocks land on different cache lines and
 * pages; on a wide heap that alone costs over 300 ns a pair.
 */
#define _GNU_SOURCE
#include "preload/shadow/shadow.h"

#include <sys/mman.h>

#include "common/pages.h"
#include "preload/shadow/shadow_install.h"
#include "preload/shadow/shadow_leaves.h"
#include "preload/shadow/shadow_slots.h"
#include "common/processor/processor.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; older kernels refuse it, which is fine */
#endif

#define MIDDLE_SHIFT 34
#define ADDRESS_BITS PROCESSOR_ADDRESS_BITS

#define MIDDLE_SLOTS ((size_t)1 << (MIDDLE_SHIFT - SHADOW_LEAF_SHIFT))
#define ROOT_SLOTS ((size_t)1 << (ADDRESS_BITS - MIDDLE_SHIFT))

#define BIG_BACK ((uintptr_t)1 << 32) /* bytes that are searched before an address */

struct leaf {
    uint32_t slots[SHADOW_LEAF_SLOTS];
};

struct middle {
    struct leaf *leaves[MIDDLE_SLOTS];
};

static FLAME_BULK struct middle *roots[2][ROOT_SLOTS];
static bool sparse;

void shadow_expect_few(void)
{
    sparse = true;
}

static inline uint32_t *slot_in(struct middle *const *tree, uintptr_t addr)
{
    struct middle *middle = __atomic_load_n(&tree[addr >> MIDDLE_SHIFT], __ATOMIC_ACQUIRE);
    struct leaf *leaf;

    if (unlikely(!middle))
        return NULL;
    leaf = __atomic_load_n(&middle->leaves[addr >> SHADOW_LEAF_SHIFT & (MIDDLE_SLOTS - 1)],
                           __ATOMIC_ACQUIRE);
    if (unlikely(!leaf))
        return NULL;
    return &leaf->slots[addr >> SHADOW_GRANULE_SHIFT & (SHADOW_LEAF_SLOTS - 1)];
}

static FLAME_NOINLINE uint32_t *find_odd_slot(uintptr_t addr)
{
    return addr >> ADDRESS_BITS || (addr & 15) != 8 ? NULL : slot_in(roots[1], addr);
}

/* The slot of an address, or NULL if its leaf does not exist. */
static inline uint32_t *find_slot(uintptr_t addr)
{
    if (unlikely(addr >> ADDRESS_BITS || addr & 15))
        return find_odd_slot(addr);
    return slot_in(roots[0], addr);
}

/* Size up to which a block is likely to have many neighbours. */
#define SMALL_BLOCK 4096

/* Gets all memory of a leaf into which the heap grows upwards: see the top of the file. */
static void populate(const struct middle *middle, size_t index, struct leaf *leaf)
{
    if (index > 0 && __atomic_load_n(&middle->leaves[index - 1], __ATOMIC_RELAXED)) {
        pages_advise(leaf, sizeof *leaf, MADV_HUGEPAGE);
        pages_advise(leaf, sizeof *leaf, MADV_POPULATE_WRITE);
    }
}

static FLAME_COLD uint32_t *make_slot(uintptr_t addr, uint64_t size)
{
    struct middle **root, *middle;
    struct leaf **branch, *leaf;

    if (addr >> ADDRESS_BITS || addr & 7)
        return NULL;
    root = &roots[addr >> 3 & 1][addr >> MIDDLE_SHIFT];
    middle = __atomic_load_n(root, __ATOMIC_ACQUIRE);
    if (!middle &&
        !(middle = shadow_install((void **)root, pages_alloc(sizeof *middle), sizeof *middle)))
        return NULL;
    branch = &middle->leaves[addr >> SHADOW_LEAF_SHIFT & (MIDDLE_SLOTS - 1)];
    leaf = __atomic_load_n(branch, __ATOMIC_ACQUIRE);
    if (!leaf) {
        struct leaf *mine = pages_alloc_aligned(sizeof *leaf, sizeof *leaf);

        leaf = shadow_install((void **)branch, mine, sizeof *leaf);
        if (!leaf)
            return NULL;
        if (leaf == mine)
            shadow_leaves_add(SHADOW_LEAF_SMALL, leaf,
                              addr >> SHADOW_LEAF_SHIFT << SHADOW_LEAF_SHIFT | (addr & 8));
        if (size <= SMALL_BLOCK && !sparse)
            populate(middle, (size_t)(branch - middle->leaves), leaf);
    }
    return &leaf->slots[addr >> SHADOW_GRANULE_SHIFT & (SHADOW_LEAF_SLOTS - 1)];
}

static inline uint32_t *want_slot(uintptr_t addr, uint64_t size)
{
    uint32_t *slot = find_slot(addr);

    return likely(slot != NULL) ? slot : make_slot(addr, size);
}

/* Other threads may access neighbouring slots at the same time, but never these; relaxed atomics
 * only keep the compiler from splitting the access. */
static void store32(uint32_t *slot, uint32_t value)
{
    __atomic_store_n(slot, value, __ATOMIC_RELAXED);
}

static bool last_of_leaf(uintptr_t addr)
{
    return (addr >> SHADOW_GRANULE_SHIFT & (SHADOW_LEAF_SLOTS - 1)) == SHADOW_LEAF_SLOTS - 1;
}

bool shadow_put(uintptr_t addr, struct block b)
{
    uint32_t *slots;

    if (unlikely(b.size >= SHADOW_BIG || (last_of_leaf(addr) && b.size > SHADOW_SMALLEST)))
        return shadow_big_put(addr, b);
    slots = want_slot(addr, b.size);
    if (unlikely(!slots))
        return false;
    store32(slots, shadow_slot_head(b));
    if (likely(b.size > SHADOW_SMALLEST))
        store32(slots + 1, shadow_slot_rest(b));
    return true;
}

bool shadow_take(uintptr_t addr, struct block *out)
{
    uint32_t *slots = find_slot(addr);

    if (unlikely(!slots || !shadow_slots_read(slots, out)))
        return shadow_big_take(addr, out);
    store32(slots, 0);
    return true;
}

bool shadow_find(uintptr_t addr, struct block *out)
{
    const uint32_t *slots = find_slot(addr);

    return (slots && shadow_slots_read(slots, out)) || shadow_big_find(addr, out);
}

/* Whether small blocks may begin in the 32 KiB up to `addr`. */
static bool any_small(uintptr_t addr)
{
    uintptr_t at = addr & ~(uintptr_t)15;

    return find_slot(at) || find_slot(at | 8) ||
           (at >> SHADOW_LEAF_SHIFT) != ((at - SHADOW_BIG) >> SHADOW_LEAF_SHIFT);
}

bool shadow_find_from(uintptr_t addr, uintptr_t lowest, uintptr_t *start, struct block *out)
{
    bool small;

    *start = 0;
    if (addr >> ADDRESS_BITS || addr < 2 * SHADOW_BIG)
        return false;
    small = any_small(addr);
    for (uintptr_t at = addr & ~(uintptr_t)7; small && addr - at < SHADOW_BIG && at >= lowest;
         at -= 8)
        if (shadow_find(at, out)) {
            *start = at;
            if (addr - at < (out->size ? out->size : 1))
                return true;
            break; /* blocks do not overlap, so only a large one might be around `addr` */
        }
    return shadow_big_around(addr, lowest, start, out);
}

bool shadow_find_around(uintptr_t addr, uintptr_t *start, struct block *out)
{
    return shadow_find_from(addr, addr > BIG_BACK ? addr - BIG_BACK : 0, start, out);
}

void shadow_prefetch(uintptr_t addr)
{
    const uint32_t *slots = find_slot(addr);

    if (slots)
        __builtin_prefetch(slots);
}

/* A visitor, and the written pages of the leaf that it visits. */
struct walking {
    void (*visit)(uintptr_t, const struct block *, void *);
    void (*again)(uintptr_t, const struct block *, void *); /* NULL: each block is visited once */
    void *arg;
    struct shadow_pages pages;
};

#define PAGE_SLOTS (SHADOW_PAGE / sizeof(uint32_t))
#define GROUP_SLOTS 16u /* read together, as most are zero */

static inline bool group_empty(const uint32_t *slots)
{
    uint32_t all = 0;

    for (uint32_t i = 0; i < GROUP_SLOTS; i++)
        all |= slots[i];
    return !all;
}

static void walk_slots(const uint32_t *slots, size_t n, uintptr_t base, const struct walking *w)
{
    for (size_t i = 0; i < n; i++) {
        struct block b;

        if (i % GROUP_SLOTS == 0)
            while (i < n && group_empty(slots + i))
                i += GROUP_SLOTS;
        if (i < n && slots[i] && shadow_slots_read(slots + i, &b))
            w->visit(base + (i << SHADOW_GRANULE_SHIFT), &b, w->arg);
    }
}

static void walk_pages(const struct leaf *leaf, uintptr_t base, const struct walking *w)
{
    for (size_t page = 0; page < SHADOW_LEAF_SLOTS / PAGE_SLOTS; page++)
        if (shadow_pages_written(&w->pages, page))
            walk_slots(leaf->slots + page * PAGE_SLOTS, PAGE_SLOTS,
                       base + (page * PAGE_SLOTS << SHADOW_GRANULE_SHIFT), w);
}

/* A block's second slot may be on the next page, but never in the next leaf. */
static void walk_leaf(void *p, uintptr_t base, void *arg)
{
    struct walking *w = arg;
    void (*visit)(uintptr_t, const struct block *, void *) = w->visit;

    shadow_pages_look(&w->pages, p, sizeof(struct leaf));
    walk_pages(p, base, w);
    if (!w->again)
        return;
    w->visit = w->again;
    walk_pages(p, base, w);
    w->visit = visit;
}

static void walk_small(struct walking *w)
{
    shadow_pages_open(&w->pages);
    shadow_leaves_each(SHADOW_LEAF_SMALL, walk_leaf, w);
    shadow_pages_close(&w->pages);
}

void shadow_walk(void (*visit)(uintptr_t addr, const struct block *b, void *arg), void *arg)
{
    struct walking w = {.visit = visit, .arg = arg};

    walk_small(&w);
    shadow_big_walk(visit, arg);
}

_Static_assert(SHADOW_SPAN == (uintptr_t)1 << SHADOW_LEAF_SHIFT && SHADOW_SMALL == SHADOW_BIG,
               "shadow.h");

void shadow_walk_twice(void (*first)(uintptr_t addr, const struct block *b, void *arg),
                       void (*second)(uintptr_t addr, const struct block *b, void *arg), void *arg)
{
    struct walking w = {.visit = first, .again = second, .arg = arg};

    shadow_big_walk(first, arg);
    walk_small(&w);
    shadow_big_walk(second, arg);
}
