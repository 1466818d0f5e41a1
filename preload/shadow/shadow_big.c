/*
 * Problem: a large block must not cost the page of small slots that its first bytes
 * would touch.
 *
 * Algorithm: two levels by address, the lower one mapping 1 GiB. An entry is the block's address
 * and row << 38 | size. A size over 38 bits is stored in the next entry, which the block covers,
 * too.
 */
#include "preload/shadow/shadow_big.h"

#include "preload/shadow/shadow_install.h"
#include "preload/shadow/shadow_leaves.h"
#include "preload/shadow/shadow_slots.h"
#include "common/processor/processor.h"

#define ADDRESS_BITS PROCESSOR_ADDRESS_BITS
#define BIG_ROOT_SLOTS ((size_t)1 << (ADDRESS_BITS - SHADOW_BIG_LEAF_SHIFT))

struct big_leaf {
    struct shadow_big_entry entries[SHADOW_BIG_LEAF_SLOTS];
};

static FLAME_BULK struct big_leaf *big_roots[BIG_ROOT_SLOTS];

/* Another thread may read neighbouring entries at the same time, but never this one; relaxed
 * atomics only keep the compiler from splitting the access. */
static void store(uint64_t *slot, uint64_t value)
{
    __atomic_store_n(slot, value, __ATOMIC_RELAXED);
}

static uint64_t load(const uint64_t *slot)
{
    return __atomic_load_n(slot, __ATOMIC_RELAXED);
}

static struct shadow_big_entry *find_big(uintptr_t addr)
{
    struct big_leaf *leaf;

    if (addr >> ADDRESS_BITS || addr & 7)
        return NULL;
    leaf = __atomic_load_n(&big_roots[addr >> SHADOW_BIG_LEAF_SHIFT], __ATOMIC_ACQUIRE);
    return leaf ? &leaf->entries[addr >> SHADOW_BIG_SHIFT & (SHADOW_BIG_LEAF_SLOTS - 1)] : NULL;
}

static struct shadow_big_entry *want_big(uintptr_t addr)
{
    struct big_leaf **root, *mine, *leaf;

    if (addr >> ADDRESS_BITS || addr & 7)
        return NULL;
    root = &big_roots[addr >> SHADOW_BIG_LEAF_SHIFT];
    if (!__atomic_load_n(root, __ATOMIC_ACQUIRE)) {
        mine = pages_alloc(sizeof *mine);
        leaf = shadow_install((void **)root, mine, sizeof *leaf);
        if (!leaf)
            return NULL;
        if (leaf == mine)
            shadow_leaves_add(SHADOW_LEAF_BIG, leaf,
                              addr >> SHADOW_BIG_LEAF_SHIFT << SHADOW_BIG_LEAF_SHIFT);
    }
    return find_big(addr);
}

FLAME_NOINLINE bool shadow_big_put(uintptr_t addr, struct block b)
{
    struct shadow_big_entry *entry = want_big(addr), *next;

    if (!entry)
        return false;
    if (b.size >= SHADOW_SIZE_ESCAPE) {
        next = want_big(addr + SHADOW_BIG);
        if (!next)
            return false;
        store(&next->value, b.size);
        __atomic_store_n(&next->addr, addr | 1, __ATOMIC_RELAXED);
        b.size = SHADOW_SIZE_ESCAPE;
    }
    store(&entry->value, (uint64_t)b.row << SHADOW_SIZE_BITS | b.size);
    __atomic_store_n(&entry->addr, addr, __ATOMIC_RELAXED);
    return true;
}

static uint64_t big_size(uintptr_t addr, uint64_t value)
{
    uint64_t size = value & SHADOW_SIZE_ESCAPE;
    const struct shadow_big_entry *next =
        size == SHADOW_SIZE_ESCAPE ? find_big(addr + SHADOW_BIG) : NULL;

    return next ? load(&next->value) : size;
}

bool shadow_big_find(uintptr_t addr, struct block *out)
{
    const struct shadow_big_entry *entry = find_big(addr);
    uint64_t value;

    if (!entry || __atomic_load_n(&entry->addr, __ATOMIC_RELAXED) != addr)
        return false;
    value = load(&entry->value);
    out->row = (uint32_t)(value >> SHADOW_SIZE_BITS);
    out->size = big_size(addr, value);
    return true;
}

/* The nearest block that begins in the leaf's entries [0, i]; 0: none does. */
static uintptr_t last_in(const struct big_leaf *leaf, size_t i)
{
    do {
        uintptr_t at = __atomic_load_n(&leaf->entries[i].addr, __ATOMIC_RELAXED);

        if (at && !(at & 1))
            return at;
    } while (i--);
    return 0;
}

bool shadow_big_around(uintptr_t addr, uintptr_t lowest, uintptr_t *start, struct block *out)
{
    uintptr_t at = addr;

    while (!(at >> ADDRESS_BITS)) {
        size_t root = at >> SHADOW_BIG_LEAF_SHIFT;
        const struct big_leaf *leaf = __atomic_load_n(&big_roots[root], __ATOMIC_ACQUIRE);
        uintptr_t found =
            leaf ? last_in(leaf, at >> SHADOW_BIG_SHIFT & (SHADOW_BIG_LEAF_SLOTS - 1)) : 0;

        if (found > addr) /* in the same 32 KiB, and after `addr` */
            found =
                found >> SHADOW_BIG_SHIFT & (SHADOW_BIG_LEAF_SLOTS - 1)
                    ? last_in(leaf, (found >> SHADOW_BIG_SHIFT & (SHADOW_BIG_LEAF_SLOTS - 1)) - 1)
                    : 0;
        if (found) {
            if (found < lowest || !shadow_big_find(found, out) || addr - found >= out->size)
                return false;
            *start = found;
            return true;
        }
        if (!root || root << SHADOW_BIG_LEAF_SHIFT <= lowest)
            return false;
        at = (root << SHADOW_BIG_LEAF_SHIFT) - 1;
    }
    return false;
}

FLAME_NOINLINE bool shadow_big_take(uintptr_t addr, struct block *out)
{
    struct shadow_big_entry *next;

    if (!shadow_big_find(addr, out))
        return false;
    if (out->size >= SHADOW_SIZE_ESCAPE && (next = find_big(addr + SHADOW_BIG)))
        __atomic_store_n(&next->addr, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&find_big(addr)->addr, 0, __ATOMIC_RELAXED);
    return true;
}

struct walking {
    void (*visit)(uintptr_t, const struct block *, void *);
    void *arg;
    struct shadow_pages pages;
};

static void walk_entries(const struct shadow_big_entry *entries, size_t n, const struct walking *w)
{
    for (const struct shadow_big_entry *e = entries; e < entries + n; e++) {
        struct block b;

        if (!e->addr || e->addr & 1)
            continue;
        b.row = (uint32_t)(e->value >> SHADOW_SIZE_BITS);
        b.size = big_size(e->addr, e->value);
        w->visit(e->addr, &b, w->arg);
    }
}

static void walk_leaf(void *leaf, uintptr_t base FLAME_UNUSED, void *arg)
{
    const size_t a_page = SHADOW_PAGE / sizeof(struct shadow_big_entry);
    const struct shadow_big_entry *entries = ((struct big_leaf *)leaf)->entries;
    struct walking *w = arg;

    shadow_pages_look(&w->pages, leaf, sizeof(struct big_leaf));
    for (size_t page = 0; page < SHADOW_BIG_LEAF_SLOTS / a_page; page++)
        if (shadow_pages_written(&w->pages, page))
            walk_entries(entries + page * a_page, a_page, w);
}

void shadow_big_walk(void (*visit)(uintptr_t addr, const struct block *b, void *arg), void *arg)
{
    struct walking w = {.visit = visit, .arg = arg};

    shadow_pages_open(&w.pages);
    shadow_leaves_each(SHADOW_LEAF_BIG, walk_leaf, &w);
    shadow_pages_close(&w.pages);
}
