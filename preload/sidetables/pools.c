/*
 * Problem: blocks of a pool lie inside a block that the shadow map knows, often at its very
 * address, and end all at once.
 *
 * Algorithm: a table of their own, by pool and address. The blocks of a chunk are in a list, and so
 * are the chunks of a pool, so that an end takes as long as there are blocks. Chunks are in the
 * order of addresses, so that a block's chunk can be found.
 *
 * One lock for all pools. Rejected: the shadow map, because a slot belongs to one block.
 */
#include "preload/sidetables/pools.h"

#include "common/hash.h"
#include "common/pages.h"
#include "common/spinlock.h"
#include "preload/runtime/upper_bound.h"

#define FIRST 64u
#define GONE UINT32_MAX

/* First members of a table's items. Item 0 means none. */
struct item {
    uintptr_t key;
    uint32_t of;           /* the pool that a block belongs to; 0 for pools */
    uint32_t next, before; /* in the list of its chunk; of free items */
};

/* Table of items that keep their number, found by key and `of`. */
struct table {
    size_t item_size;
    char *items;
    uint32_t n, room, free; /* highest number ever used, capacity, first free item */
    uint32_t *slots;        /* numbers of items; 0: never used, GONE: the item was dropped */
    uint32_t size, used, there;
};

struct pool {
    struct item item;
    uint32_t chunks; /* the first one */
};

struct block {
    struct item item;
    uint64_t size, born;
    uint32_t row, chunk;
};

struct chunk {
    uintptr_t lo, hi; /* both 0: for blocks that lie elsewhere */
    uintptr_t backing;
    uint64_t handed; /* bytes of its blocks */
    uint32_t row, pool;
    uint32_t blocks; /* the first one */
    uint32_t next;   /* in the list of the pool */
};

static struct {
    struct spinlock lock;
    bool in_use;
    struct table pools, blocks;
    struct chunk *chunks; /* [0] means none */
    uint32_t nchunks, chunks_room, free_chunk;
    struct place {
        uintptr_t lo;
        uint32_t chunk;
    } * order; /* by address */
    size_t norder, order_room;
} g = {.pools = {.item_size = sizeof(struct pool)}, .blocks = {.item_size = sizeof(struct block)}};

/* Bits by the low bits of a hash: whether a chunk's backing with that hash has existed. */
static FLAME_BULK uint8_t backings[4096];

static uint64_t mix(uintptr_t key, uint32_t of)
{
    return ((key >> 3) + of * 0x85ebca6bu) * HASH_GOLDEN;
}

void pools_lock(void)
{
    spinlock_take(&g.lock);
}

void pools_unlock(void)
{
    spinlock_drop(&g.lock);
}

/* ---- tables ---- */

static struct item *item_at(const struct table *t, uint32_t id)
{
    return (struct item *)(t->items + id * t->item_size);
}

static uint32_t first_slot(const struct table *t, uintptr_t key, uint32_t of)
{
    return (uint32_t)(mix(key, of) >> 32) & (t->size - 1);
}

/* The slot of the item, or the free slot that ends the search for it. */
static uint32_t *slot_of(const struct table *t, uintptr_t key, uint32_t of)
{
    uint32_t at = first_slot(t, key, of);

    for (; t->slots[at]; at = (at + 1) & (t->size - 1))
        if (t->slots[at] != GONE && item_at(t, t->slots[at])->key == key &&
            item_at(t, t->slots[at])->of == of)
            break;
    return &t->slots[at];
}

/* A slot for an item that has none. The slot of a dropped item is preferred: allocators hand out
 * the same address again and again, and its slot would move further back each time. */
static uint32_t *slot_for(struct table *t, uintptr_t key, uint32_t of)
{
    uint32_t at = first_slot(t, key, of);

    while (t->slots[at] && t->slots[at] != GONE)
        at = (at + 1) & (t->size - 1);
    t->used += !t->slots[at];
    return &t->slots[at];
}

static uint32_t find(const struct table *t, uintptr_t key, uint32_t of)
{
    return t->there ? *slot_of(t, key, of) : 0;
}

/* Resizes an array from `size` bytes (0: there is none yet) to `wanted`. False: no memory, and the
 * array has not changed. */
static bool grow(void **array, size_t size, size_t wanted)
{
    void *more = size ? pages_resize(*array, size, wanted) : pages_alloc(wanted);

    if (!more)
        return false;
    *array = more;
    return true;
}

static bool make_slots(struct table *t)
{
    uint32_t size = t->size, *old = t->slots;
    uint32_t wanted = !size ? 2 * FIRST : t->there * 4 < size ? size : size * 2;

    if (t->used < size / 2)
        return true;
    t->slots = pages_alloc(wanted * sizeof *t->slots);
    if (!t->slots) {
        t->slots = old;
        return false;
    }
    t->size = wanted;
    t->used = t->there;
    for (uint32_t i = 0; i < size; i++)
        if (old[i] && old[i] != GONE)
            *slot_of(t, item_at(t, old[i])->key, item_at(t, old[i])->of) = old[i];
    if (old)
        pages_free(old, size * sizeof *old);
    return true;
}

static bool make_item(struct table *t)
{
    uint32_t room = t->room ? t->room * 2 : FIRST;

    if (t->free || t->n + 1 < t->room)
        return true;
    if (!grow((void **)&t->items, t->room * t->item_size, room * t->item_size))
        return false;
    t->room = room;
    return true;
}

/* Adds an item that the table does not have; 0: no memory. */
static uint32_t add(struct table *t, uintptr_t key, uint32_t of)
{
    uint32_t id;

    if (!make_slots(t) || !make_item(t))
        return 0;
    id = t->free;
    if (id)
        t->free = item_at(t, id)->next;
    else
        id = ++t->n;
    memset(item_at(t, id), 0, t->item_size);
    item_at(t, id)->key = key;
    item_at(t, id)->of = of;
    *slot_for(t, key, of) = id;
    t->there++;
    return id;
}

static void drop(struct table *t, uint32_t id)
{
    struct item *item = item_at(t, id);

    *slot_of(t, item->key, item->of) = GONE;
    t->there--;
    item->key = 0;
    item->next = t->free;
    t->free = id;
}

static struct pool *pool_at(uint32_t id)
{
    return (struct pool *)item_at(&g.pools, id);
}

static struct block *block_at(uint32_t id)
{
    return (struct block *)item_at(&g.blocks, id);
}

/* ---- chunks ---- */

static uint32_t new_chunk(void)
{
    uint32_t id = g.free_chunk, room = g.chunks_room ? g.chunks_room * 2 : FIRST;

    if (id) {
        g.free_chunk = g.chunks[id].next;
        return id;
    }
    if (g.nchunks + 1 >= g.chunks_room) {
        if (!grow((void **)&g.chunks, g.chunks_room * sizeof *g.chunks, room * sizeof *g.chunks))
            return 0;
        g.chunks_room = room;
    }
    return ++g.nchunks;
}

static void give_to_pool(uint32_t chunk, uint32_t pool)
{
    g.chunks[chunk].pool = pool;
    g.chunks[chunk].next = pool_at(pool)->chunks;
    pool_at(pool)->chunks = chunk;
}

/* Number of chunks that begin at or before `addr`. */
static size_t above(uintptr_t addr)
{
    return g.norder ? upper_bound(&g.order->lo, g.norder, sizeof *g.order, addr) : 0;
}

/* The chunk of the pool that the block lies in; if none, the pool's last one, which has no
 * memory. */
static uint32_t chunk_of(uint32_t pool, uintptr_t addr)
{
    size_t at = above(addr);
    uint32_t id = at ? g.order[at - 1].chunk : 0;

    if (id && addr < g.chunks[id].hi && g.chunks[id].pool == pool)
        return id;
    for (id = pool_at(pool)->chunks; g.chunks[id].hi; id = g.chunks[id].next)
        ;
    return id;
}

static bool put_in_order(uintptr_t lo, uint32_t chunk)
{
    size_t room = g.order_room ? g.order_room * 2 : FIRST, at = above(lo);

    if (g.norder == g.order_room) {
        if (!grow((void **)&g.order, g.order_room * sizeof *g.order, room * sizeof *g.order))
            return false;
        g.order_room = room;
    }
    memmove(g.order + at + 1, g.order + at, (g.norder - at) * sizeof *g.order);
    g.order[at] = (struct place){lo, chunk};
    g.norder++;
    return true;
}

static void free_chunk(uint32_t id)
{
    size_t at = above(g.chunks[id].lo);

    if (g.chunks[id].hi) {
        memmove(g.order + at - 1, g.order + at, (g.norder - at) * sizeof *g.order);
        g.norder--;
    }
    g.chunks[id] = (struct chunk){.next = g.free_chunk};
    g.free_chunk = id;
}

/* ---- the recorder's calls ---- */

bool pools_create(uintptr_t pool)
{
    uint32_t id, chunk;

    __atomic_store_n(&g.in_use, true, __ATOMIC_RELAXED);
    if (find(&g.pools, pool, 0))
        return false;
    chunk = new_chunk();
    id = chunk ? add(&g.pools, pool, 0) : 0;
    if (!id) {
        if (chunk)
            free_chunk(chunk);
        return false;
    }
    g.chunks[chunk] = (struct chunk){.lo = 0};
    give_to_pool(chunk, id);
    return true;
}

static bool is_free(uintptr_t lo, uintptr_t hi)
{
    size_t at = above(lo);

    return !(at && g.chunks[g.order[at - 1].chunk].hi > lo) &&
           !(at < g.norder && g.order[at].lo < hi);
}

/* Extends the chunk that ends at `lo`. Memory that is added piece by piece becomes one chunk,
 * because a block may lie in two of the pieces. */
static bool goes_on(uintptr_t lo, uint64_t size, uint32_t pool, uintptr_t backing)
{
    size_t at = above(lo);
    struct chunk *before = at ? &g.chunks[g.order[at - 1].chunk] : NULL;

    if (!before || before->hi != lo || before->pool != pool || before->backing != backing)
        return false;
    before->hi += size;
    return true;
}

bool pools_add(uintptr_t pool, uintptr_t lo, uint64_t size, uintptr_t backing, uint32_t row)
{
    uint32_t id = find(&g.pools, pool, 0), chunk;

    if (!id || !lo || !size || size > UINTPTR_MAX - lo || !is_free(lo, lo + size))
        return false;
    if (goes_on(lo, size, id, backing))
        return true;
    chunk = new_chunk();
    if (!chunk)
        return false;
    g.chunks[chunk] = (struct chunk){.lo = 0};
    if (!put_in_order(lo, chunk)) {
        free_chunk(chunk);
        return false;
    }
    g.chunks[chunk] =
        (struct chunk){.lo = lo, .hi = lo + size, .backing = backing, .row = backing ? row : 0};
    give_to_pool(chunk, id);
    if (backing) {
        __atomic_store_n(&backings[mix(backing, 0) >> 52], 1, __ATOMIC_RELAXED);
        __atomic_fetch_or(&features_on, FEATURE_POOLS, __ATOMIC_RELEASE);
    }
    return true;
}

static struct pool_block described(const struct block *b)
{
    const struct chunk *c = &g.chunks[b->chunk];

    return (struct pool_block){.addr = b->item.key,
                               .size = b->size,
                               .row = b->row,
                               .born = b->born,
                               .backing_row = c->row,
                               .in_chunk = c->hi != 0};
}

/* Whether the chunk has room for the block. As with malloc, no block is larger than PTRDIFF_MAX. */
static bool has_room(const struct chunk *c, uintptr_t addr, uint64_t size)
{
    return c->hi ? size <= c->hi - addr && size <= c->hi - c->lo - c->handed : size <= PTRDIFF_MAX;
}

bool pools_put(uintptr_t pool, struct pool_block *b)
{
    uint32_t id = find(&g.pools, pool, 0), in, at;
    struct block *block;
    struct chunk *chunk;

    if (!id || find(&g.blocks, b->addr, id))
        return false;
    in = chunk_of(id, b->addr);
    chunk = &g.chunks[in];
    at = has_room(chunk, b->addr, b->size) ? add(&g.blocks, b->addr, id) : 0;
    if (!at)
        return false;
    chunk->handed += b->size;
    block = block_at(at);
    block->size = b->size;
    block->row = b->row;
    block->born = b->born;
    block->chunk = in;
    block->item.next = chunk->blocks;
    if (chunk->blocks)
        block_at(chunk->blocks)->item.before = at;
    chunk->blocks = at;
    *b = described(block);
    return true;
}

static void take(uint32_t id)
{
    struct block *b = block_at(id);

    g.chunks[b->chunk].handed -= b->size;
    if (b->item.before)
        block_at(b->item.before)->item.next = b->item.next;
    else
        g.chunks[b->chunk].blocks = b->item.next;
    if (b->item.next)
        block_at(b->item.next)->item.before = b->item.before;
    drop(&g.blocks, id);
}

bool pools_take(uintptr_t pool, uintptr_t addr, struct pool_block *out)
{
    uint32_t id = find(&g.pools, pool, 0), block = id ? find(&g.blocks, addr, id) : 0;

    if (!block)
        return false;
    *out = described(block_at(block));
    take(block);
    return true;
}

static void end_chunk(uint32_t id, pools_visit *visit, void *arg)
{
    while (g.chunks[id].blocks) {
        struct pool_block b = described(block_at(g.chunks[id].blocks));

        take(g.chunks[id].blocks);
        visit(&b, arg);
    }
}

bool pools_end(uintptr_t pool, pools_visit *visit, void *arg)
{
    uint32_t id = find(&g.pools, pool, 0);

    if (!id)
        return false;
    for (uint32_t chunk = pool_at(id)->chunks, next; chunk; chunk = next) {
        next = g.chunks[chunk].next;
        end_chunk(chunk, visit, arg);
        free_chunk(chunk);
    }
    drop(&g.pools, id);
    return true;
}

bool pools_may_be_backing(uintptr_t addr)
{
    return __atomic_load_n(&backings[mix(addr, 0) >> 52], __ATOMIC_RELAXED);
}

static void leave_pool(uint32_t chunk)
{
    uint32_t *link = &pool_at(g.chunks[chunk].pool)->chunks;

    while (*link != chunk)
        link = &g.chunks[*link].next;
    *link = g.chunks[chunk].next;
}

/* The chunk at *at in the order of addresses, if it belongs to that backing; 0: it does not. */
static uint32_t first_in(uintptr_t backing, size_t *at)
{
    uint32_t id = *at < g.norder ? g.order[*at].chunk : 0;

    return id && g.chunks[id].backing == backing ? id : 0;
}

void pools_backing_gone(uintptr_t backing, pools_visit *visit, void *arg)
{
    size_t at = above(backing - 1);
    uint32_t id;

    while ((id = first_in(backing, &at)) != 0) {
        end_chunk(id, visit, arg);
        leave_pool(id);
        free_chunk(id);
    }
}

uint64_t pools_in(uintptr_t backing, pools_visit *visit, void *arg)
{
    uint64_t bytes = 0;
    uint32_t id;

    for (size_t at = above(backing - 1); (id = first_in(backing, &at)) != 0; at++)
        for (uint32_t b = g.chunks[id].blocks; b; b = block_at(b)->item.next) {
            struct pool_block block = described(block_at(b));

            bytes += block.size;
            visit(&block, arg);
        }
    return bytes;
}

void pools_each(pools_visit *visit, void *arg)
{
    for (uint32_t i = 1; i <= g.blocks.n; i++)
        if (block_at(i)->item.key) {
            struct pool_block block = described(block_at(i));

            visit(&block, arg);
        }
}

/* Forgets all pools if a thread that the child does not have held the lock. It may have been
 * changing them, so nothing is freed. */
void pools_after_fork(void)
{
    if (!g.in_use || !g.lock.held)
        return;
    memset(&g, 0, sizeof g);
    g.pools.item_size = sizeof(struct pool);
    g.blocks.item_size = sizeof(struct block);
}

uint32_t pools_gone(void)
{
    return g.blocks.used - g.blocks.there;
}
