/* What allocators do all day: an address that is handed out and taken back, again and again, beside
 * many that stay. It must not come to cost more than as many different addresses do. */
#include <time.h>

#include "preload/watch/pausedblocks.h"
#include "preload/watch/pools.h"
#include "preload/watch/regions.h"
#include "tests/tap.h"

#define STAY 30000u
#define ROUNDS 100000u
#define POOL ((uintptr_t)8)
#define BASE ((uintptr_t)1 << 40)
/* Times dearer. It takes 0.7 and less; where entries that are gone are not used again, 3 of regions
 * and over 300 of the others. */
#define TIMES 2

struct table {
    const char *name;
    void (*put)(uintptr_t addr);
    bool (*take)(uintptr_t addr);
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

/* CPU time of ROUNDS blocks at so many addresses in turn, each there for so long. */
static double churn(const struct table *t, uint32_t addresses, uint32_t *good)
{
    struct timespec a, b;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        t->put(addr_of(STAY + i % addresses));
        *good += t->take(addr_of(STAY + i % addresses));
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
    return (double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec);
}

static void test_table(const struct table *t)
{
    uint32_t good = 0;
    double many, one;

    for (uint32_t i = 0; i < STAY; i++)
        t->put(addr_of(i));
    many = churn(t, ROUNDS, &good);
    one = churn(t, 1, &good);
    for (uint32_t i = 0; i < STAY; i++)
        good += t->take(addr_of(i));
    is_int(good, 2 * ROUNDS + STAY, "%s: each is found once", t->name);
    ok(one < TIMES * many, "%s: one address costs as much as many", t->name);
}

int main(void)
{
    pausedblocks_remember();
    ok(pools_create(POOL) && (region = regions_open("", 0, 0)), "a pool and a region");
    test_table(&(struct table){"paused", put_paused, take_paused});
    test_table(&(struct table){"pool", put_pool, take_pool});
    test_table(&(struct table){"region", put_region, take_region});
    return done_testing();
}
