/* Allocates and frees one address again and again beside many blocks that stay, as allocators do.
 * The address must get its old place in the table, and not one further back each time. With 30,000
 * removed entries in between it took 300 times as long. */
#include "preload/sidetables/pausedblocks.h"
#include "preload/sidetables/pools.h"
#include "preload/sidetables/regions.h"
#include "tests/tap.h"

#define STAY 30000u
#define ROUNDS 10000u
#define POOL ((uintptr_t)8)
#define BASE ((uintptr_t)1 << 40)
struct table {
    const char *name;
    void (*put)(uintptr_t addr);
    bool (*take)(uintptr_t addr);
    uint32_t (*gone)(void);
};

static uint32_t region;

static void put_paused(uintptr_t addr)
{
    pausedblocks_put(addr, 50);
}

static bool take_paused(uintptr_t addr)
{
    uint64_t size;

    return pausedblocks_take(addr, &size) && size == 50;
}

static void put_pool(uintptr_t addr)
{
    pools_put(POOL, &(struct pool_block){.addr = addr, .size = 50});
}

static bool take_pool(uintptr_t addr)
{
    struct pool_block b;

    return pools_take(POOL, addr, &b) && b.size == 50;
}

static void put_region(uintptr_t addr)
{
    regions_put_back(addr, region);
}

static bool take_region(uintptr_t addr)
{
    return regions_take(addr) == region;
}

static uintptr_t addr_of(uint32_t i)
{
    return BASE + (uintptr_t)i * 64;
}

static void test_table(const struct table *t)
{
    uint32_t good = 0, gone;

    for (uint32_t i = 0; i < STAY; i++)
        t->put(addr_of(i));
    gone = t->gone();
    for (uint32_t i = 0; i < ROUNDS; i++) {
        t->put(addr_of(STAY));
        good += t->take(addr_of(STAY));
    }
    gone = t->gone() - gone;
    for (uint32_t i = 0; i < STAY; i++)
        good += t->take(addr_of(i));
    is_int(good, ROUNDS + STAY, "table %s: each block is found once", t->name);
    ok(gone <= 1, "table %s: a reused address keeps its place (%u new places)", t->name, gone);
}

int main(void)
{
    pausedblocks_remember();
    ok(pools_create(POOL) && (region = regions_open("", 0, 0)), "a pool and a region are made");
    test_table(&(struct table){"paused", put_paused, take_paused, pausedblocks_gone});
    test_table(&(struct table){"pool", put_pool, take_pool, pools_gone});
    test_table(&(struct table){"region", put_region, take_region, regions_gone});
    return done_testing();
}
