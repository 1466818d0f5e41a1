/*
 * Problem: every event brings 5 to 1,000 return addresses that must become one small number,
 * without a lock and without growing the file for stacks seen before.
 *
 * Algorithm: a tree keyed (parent node, pc) in an open-addressing table with linear probing. A
 * child's place follows from a hash of all its path, not of its parent's id. So the places of all
 * frames to be looked up are known at once, and their cache misses overlap. Two successive events
 * share most of their frames from the root on. So the last stack is stored root first, with the
 * node of each frame: the common part costs a comparison, and only the rest is looked up.
 *
 * A table grows in place: its pages stay, and as many are added after them. A forked child has no
 * use for a large one, so the kernel does not copy it (pages_keep).
 *
 * Rejected: one table of whole stacks by hash, because each distinct stack would be stored whole
 * (cc1 has hundreds of thousands, 40 frames deep). A shared table also needs a lock or a resizing
 * scheme between threads.
 */
#define _GNU_SOURCE
#include "preload/store/stacks.h"

#include <sys/mman.h>

#include "common/hash.h"
#include "common/pages.h"

#define FIRST_IDS 32u
#define IDS_AT_ONCE 128u

void stacks_init(struct stack_table *t, struct stack_small *small)
{
    *t = (struct stack_table){.small = small,
                              .entries = small->entries,
                              .mask = STACKS_SMALL_ENTRIES - 1,
                              .last_pc = small->pc,
                              .last_place = small->place,
                              .last_cap = STACKS_SMALL_FRAMES};
}

static size_t entries_size(size_t count)
{
    return count * sizeof(struct stack_entry);
}

static void free_entries(struct stack_entry *entries, size_t count)
{
    if (count > STACKS_SMALL_ENTRIES)
        pages_free(entries, entries_size(count));
}

/* Size of the block that has the last stack's places and pcs. */
static size_t last_size(uint32_t cap)
{
    return (cap + 1) * sizeof(struct stack_place) + cap * sizeof(uint64_t);
}

static void free_last(struct stack_table *t)
{
    if (t->last_cap > STACKS_SMALL_FRAMES)
        pages_free(t->last_place, last_size(t->last_cap));
}

void stacks_release(struct stack_table *t)
{
    free_entries(t->entries, (size_t)t->mask + 1);
    free_last(t);
}

/* Makes room for a last stack of n frames. False: no memory, and the last stack is forgotten. */
static FLAME_COLD bool make_room(struct stack_table *t, uint32_t n)
{
    uint32_t cap = t->last_cap * 2 > n ? t->last_cap * 2 : n;
    struct stack_place *place = pages_alloc(last_size(cap));
    uint64_t *pc = (uint64_t *)(place + cap + 1);

    if (!place) {
        stacks_forget_last(t);
        return false;
    }
    memcpy(place, t->last_place, (t->last_len + 1) * sizeof *place);
    memcpy(pc, t->last_pc, t->last_len * sizeof *pc);
    free_last(t);
    t->last_place = place;
    t->last_pc = pc;
    t->last_cap = cap;
    return true;
}

static uint32_t new_node(struct stack_table *t, uint32_t parent, uint64_t addr, uint32_t kind)
{
    struct trace_node *n;

    if (t->ids.next == t->ids.end && !store_nodes(t->used ? IDS_AT_ONCE : FIRST_IDS, &t->ids))
        return 0;
    n = store_node(t->ids.next);
    n->addr = addr;
    n->parent = parent;
    __atomic_store_n(&n->kind, kind, __ATOMIC_RELEASE);
    return t->ids.next++;
}

void stacks_forget_last(struct stack_table *t)
{
    t->last_len = 0;
    t->last_entry = NULL;
}

void stacks_restart(struct stack_table *t)
{
    if (!t->kept)
        free_entries(t->entries, (size_t)t->mask + 1);
    t->kept = false;
    t->entries = t->small->entries;
    t->mask = STACKS_SMALL_ENTRIES - 1;
    memset(t->entries, 0, STACKS_SMALL_ENTRIES * sizeof *t->entries);
    t->used = 0;
    t->ids = (struct id_chunk){0, 0};
}

uint32_t stacks_inherited(struct stack_table *t, uint64_t addr)
{
    return new_node(t, t->root, addr, TRACE_NODE_INHERITED);
}

uint32_t stacks_above(struct stack_table *t, uint32_t node, uint64_t addr, uint32_t kind)
{
    return new_node(t, node, addr, kind);
}

bool stacks_set_root(struct stack_table *t, uint64_t addr)
{
    uint32_t root = new_node(t, 0, addr, TRACE_NODE_ROOT);

    if (!root)
        return false;
    t->root = root;
    stacks_set_base(t, 0);
    return true;
}

void stacks_set_base(struct stack_table *t, uint32_t node)
{
    if (!node)
        node = t->root;
    t->last_place[0] = (struct stack_place){node, node};
    stacks_forget_last(t);
}

/* Hash of the path that `pc` is added to; its upper half gives a place in the table. */
static inline uint64_t hash_on(uint64_t hash, uint64_t pc)
{
    return ((hash ^ hash >> 29) + pc) * HASH_GOLDEN;
}

static inline uint32_t upper(uint64_t hash)
{
    return (uint32_t)(hash >> 32);
}

#define FIRST_PAGES 256u                 /* entries of the first table that is not small */
#define WORTH_KEEPING ((size_t)64 << 10) /* bytes */
#define HUGE ((size_t)2 << 20)

static void place(struct stack_entry *entries, uint32_t mask, const struct stack_entry *e)
{
    uint32_t at = e->hash & mask;

    while (entries[at].parent)
        at = (at + 1) & mask;
    entries[at] = *e;
}

/* Moves the entries to other memory of at least twice the size. For small tables, and for large
 * ones, which are read at random, so that huge pages pay. */
static bool move(struct stack_table *t, uint32_t old_size, uint32_t size)
{
    bool large = entries_size(size) >= HUGE;
    struct stack_entry *fresh =
        large ? pages_alloc_aligned(entries_size(size), HUGE) : pages_alloc(entries_size(size));

    if (!fresh)
        return false;
    store_note_own();
    if (large)
        pages_advise(fresh, entries_size(size), MADV_HUGEPAGE);
    else
        pages_fill(fresh, entries_size(size));
    for (uint32_t i = 0; i < old_size; i++)
        if (t->entries[i].parent)
            place(fresh, size - 1, &t->entries[i]);
    free_entries(t->entries, old_size);
    t->entries = fresh;
    t->kept = false;
    return true;
}

/*
 * Doubles the table in place: the entries stay, and as many free ones are added after them. Then
 * each entry is placed again, beginning after a free entry and wrapping around. So an entry's new
 * place is at or before its old place, counted within either half. It is never after an entry that
 * is still to be placed.
 */
static bool widen(struct stack_table *t, uint32_t old_size)
{
    struct stack_entry *wide =
        pages_resize(t->entries, entries_size(old_size), entries_size(old_size * 2));
    uint32_t mask = old_size * 2 - 1, first = 0;

    if (!wide)
        return false;
    store_note_own();
    pages_fill(wide + old_size, entries_size(old_size));
    while (wide[first].parent)
        first++;
    for (uint32_t i = 1; i < old_size; i++) {
        struct stack_entry *at = &wide[(first + i) & (old_size - 1)], e = *at;

        if (!e.parent)
            continue;
        *at = (struct stack_entry){.parent = 0};
        place(wide, mask, &e);
    }
    t->entries = wide;
    return true;
}

static bool grow(struct stack_table *t)
{
    uint32_t old_size = t->mask + 1;
    bool small = old_size == STACKS_SMALL_ENTRIES;
    uint32_t size = small ? FIRST_PAGES : old_size * 2;
    bool ok = small || entries_size(size) >= HUGE ? move(t, old_size, size) : widen(t, old_size);

    if (!ok)
        return false;
    t->mask = size - 1;
    /* If pages_keep fails now, it may have succeeded before, and `kept` stays true. Pages that a
     * child does not have must not be freed, as something else may be mapped there. */
    if (entries_size(size) >= WORTH_KEEPING && pages_keep(t->entries, entries_size(size)))
        t->kept = true;
    return true;
}

static FLAME_COLD struct stack_entry *add(struct stack_table *t, uint32_t parent, uint64_t pc,
                                          uint32_t hash, uint64_t dropped,
                                          void (*added)(uintptr_t pc))
{
    bool truncated = pc == STACK_TRUNCATED, named = pc & STACK_NAME;
    struct stack_entry *e;
    uint32_t at, node;

    if (t->used >= (t->mask + 1) / 2 && !grow(t))
        return NULL;
    if (!truncated && !named && added)
        added((uintptr_t)pc);
    if (unlikely(named))
        node = new_node(t, parent, pc & ~STACK_NAME, TRACE_NODE_NAME);
    else
        node = truncated ? new_node(t, parent, dropped, TRACE_NODE_TRUNCATED)
                         : new_node(t, parent, pc, TRACE_NODE_PC);
    if (!node)
        return NULL;
    at = hash & t->mask;
    while (t->entries[at].parent)
        at = (at + 1) & t->mask;
    e = &t->entries[at];
    *e = (struct stack_entry){.pc = pc, .parent = parent, .node = node, .hash = hash};
    t->used++;
    return e;
}

static struct stack_entry *child(struct stack_table *t, uint32_t parent, uint64_t pc, uint32_t hash,
                                 uint64_t dropped, void (*added)(uintptr_t pc))
{
    for (uint32_t at = hash & t->mask;; at = (at + 1) & t->mask) {
        struct stack_entry *e = &t->entries[at];

        if (likely(e->pc == pc && e->parent == parent))
            return e;
        if (!e->parent)
            return add(t, parent, pc, hash, dropped, added);
    }
}

struct stack_entry *stacks_intern(struct stack_table *t, const uintptr_t *pcs, uint32_t n,
                                  uint32_t same, uint64_t dropped, void (*added)(uintptr_t pc))
{
    uint32_t most = n < t->last_len ? n : t->last_len, common = same < most ? same : most;
    struct stack_place *place;
    struct stack_entry *e = NULL;

    if (unlikely(n > t->last_cap) && !make_room(t, n))
        return NULL;
    while (common < most && t->last_pc[common] == pcs[common])
        common++;
    if (common == n && n == t->last_len && t->last_entry)
        return t->last_entry;
    /* The innermost frame is always looked up: its entry is the result. */
    if (common == n)
        common--;
    t->last_len = common;
    t->last_entry = NULL;
    place = &t->last_place[common];
    for (uint32_t i = 0; i < n - common; i++) {
        place[i + 1].hash = hash_on(place[i].hash, pcs[common + i]);
        __builtin_prefetch(&t->entries[upper(place[i + 1].hash) & t->mask]);
    }
    for (; common < n; common++, place++) {
        e = child(t, place[0].node, pcs[common], upper(place[1].hash), dropped, added);
        if (unlikely(!e))
            return NULL;
        place[1].node = e->node;
        t->last_pc[common] = e->pc;
        t->last_len = common + 1;
    }
    t->last_entry = e;
    return e;
}
