/*
 * Functions by which an allocator of the program's own reports the blocks that it hands out
 * (preload/flamemem.h).
 *
 * A block of a pool counts in the row of its stack. While it lies in a block of malloc's, that
 * block counts for so many bytes less. So no byte counts twice and none is lost: at any time the
 * sum of the live blocks is what malloc has handed out.
 */
#define FLAMEMEM_LIBRARY
#include "preload/api/api_call.h"
#include "preload/flamemem.h"
#include "preload/sidetables/age_clock.h"
#include "preload/sidetables/pools.h"

static uintptr_t address(const void *p)
{
    return (uintptr_t)p;
}

/* If blocks are sampled, the memory that backs pools is sampled like all other blocks. */
static bool begin(struct api_call *a)
{
    return !record_period && api_call_begin(a);
}

static void count_free(const struct pool_block *b, void *arg FLAME_UNUSED)
{
    record_pool_free(b);
}

EXPORT int flamemem_pool_create(const void *pool)
{
    struct api_call a;
    bool ok;

    if (!begin(&a))
        return 0;
    pools_lock();
    /* A pool with this address that was not destroyed ends. */
    pools_end(address(pool), count_free, NULL);
    ok = pools_create(address(pool));
    pools_unlock();
    return api_call_end(&a, ok);
}

EXPORT int flamemem_pool_destroy(const void *pool)
{
    struct api_call a;
    bool ok;

    if (!begin(&a))
        return 0;
    pools_lock();
    ok = pools_end(address(pool), count_free, NULL);
    pools_unlock();
    return api_call_end(&a, ok);
}

EXPORT int flamemem_pool_add(const void *pool, const void *memory, size_t size)
{
    struct block around = {.row = 0};
    uintptr_t backing = 0;
    struct api_call a;
    bool ok;

    if (!begin(&a))
        return 0;
    if (shadow_find(address(memory), &around))
        backing = address(memory);
    else if (!shadow_find_around(address(memory), &backing, &around))
        backing = 0;
    if (backing && size > around.size - (address(memory) - backing))
        backing = 0;
    pools_lock();
    ok = pools_add(address(pool), address(memory), size, backing, around.row);
    pools_unlock();
    return api_call_end(&a, ok);
}

/* The caller holds the lock. */
static bool put(const struct api_call *a, const void *pool, const void *p, size_t size,
                uint32_t row)
{
    struct pool_block b = {.addr = address(p), .size = size, .row = row}, old;
    struct block known;

    if (pools_take(address(pool), address(p), &old))
        record_pool_free(&old);
    if (a->t->paused) {
        __atomic_fetch_add(&store.writer.header->paused_calls, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&store.writer.header->paused_bytes, size, __ATOMIC_RELAXED);
        return true;
    }
    if (feature_on(FEATURE_LIFETIMES))
        b.born = age_clock_now(a->t->allocated);
    if (!row || !pools_put(address(pool), &b))
        return false;
    /* A block of malloc's that the pool only passes on is recorded as such. */
    if (!b.in_chunk && shadow_find(address(p), &known))
        pools_take(address(pool), address(p), &old);
    else
        record_pool_alloc(&b);
    return true;
}

EXPORT int flamemem_pool_alloc(const void *pool, const void *p, size_t size)
{
    struct api_call a;
    uint32_t row;
    bool ok;

    if (!p || !begin(&a))
        return 0;
    row = a.t->paused ? 0 : record_stack(LOCAL_CALLER());
    pools_lock();
    ok = put(&a, pool, p, size, row);
    pools_unlock();
    return api_call_end(&a, ok);
}

EXPORT int flamemem_pool_free(const void *pool, const void *p)
{
    struct pool_block b;
    struct api_call a;
    bool ok;

    if (!p || !begin(&a))
        return 0;
    pools_lock();
    ok = pools_take(address(pool), address(p), &b);
    if (ok)
        record_pool_free(&b);
    pools_unlock();
    return api_call_end(&a, ok);
}

EXPORT int flamemem_pool_realloc(const void *pool, const void *old, const void *p, size_t size)
{
    struct pool_block b;
    struct api_call a;
    uint32_t row;
    bool ok;

    if (!p || !begin(&a))
        return 0;
    row = a.t->paused ? 0 : record_stack(LOCAL_CALLER());
    pools_lock();
    if (old && pools_take(address(pool), address(old), &b))
        record_pool_free(&b);
    ok = put(&a, pool, p, size, row);
    pools_unlock();
    return api_call_end(&a, ok);
}

ASKING_ALSO(flamemem_pool_create, flamemem_ask_pool_create);
ASKING_ALSO(flamemem_pool_destroy, flamemem_ask_pool_destroy);
ASKING_ALSO(flamemem_pool_add, flamemem_ask_pool_add);
ASKING_ALSO(flamemem_pool_alloc, flamemem_ask_pool_alloc);
ASKING_ALSO(flamemem_pool_free, flamemem_ask_pool_free);
ASKING_ALSO(flamemem_pool_realloc, flamemem_ask_pool_realloc);
