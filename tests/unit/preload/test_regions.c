/* Blocks and their regions, compared with one number for each block. */
#include "preload/sidetables/regions.h"
#include "tests/tap.h"

#define BLOCKS 3000
#define BASE ((uintptr_t)1 << 40)
#define ROUNDS 200000

static uint32_t model[BLOCKS]; /* its region; 0: none */
static uint32_t seed = 7;

static uint32_t next(void)
{
    seed = seed * 1664525 + 1013904223;
    return seed >> 8;
}

static uintptr_t addr_of(uint32_t block)
{
    return BASE + (uintptr_t)block * 8;
}

struct seen {
    uint32_t region, wrong, n;
};

static uint32_t look(uintptr_t addr, uint32_t region, void *arg)
{
    struct seen *s = arg;

    s->n++;
    s->wrong += model[(addr - BASE) / 8] != region || (s->region && region != s->region);
    return region;
}

static uint32_t count(uint32_t region)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < BLOCKS; i++)
        n += region ? model[i] == region : model[i] != 0;
    return n;
}

/* Compares the blocks of one region, or (0) of all. */
static bool same(uint32_t region)
{
    struct seen s = {.region = region};
    bool ok;

    regions_lock();
    regions_each(region, look, &s);
    ok = s.wrong == 0 && s.n == count(region) && (region || regions_blocks() == s.n);
    regions_unlock();
    return ok && (!region || regions_at(region)->blocks == s.n);
}

static uint32_t move(uintptr_t addr, uint32_t region, void *arg)
{
    uint32_t to = *(uint32_t *)arg;

    (void)region;
    model[(addr - BASE) / 8] = (addr >> 3) % 2 ? to : 0;
    return (addr >> 3) % 2 ? to : 0;
}

static void test_blocks(void)
{
    uint32_t own[4], good = 0, taken = 0;

    ok(!any_feature_on(), "no feature is on before the first region");
    for (uint32_t i = 0; i < 4; i++)
        own[i] = regions_open("test", 0, 0);
    ok(any_feature_on(), "an open region turns a feature on");
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t block = next() % BLOCKS, region = own[next() % 4];

        if (next() % 2) {
            regions_note(addr_of(block), region);
            model[block] = region;
        } else {
            taken += regions_take(addr_of(block)) == model[block];
            taken -= 1;
            model[block] = 0;
        }
        if (i % 10000 == 0)
            good += same(0) && same(own[i / 10000 % 4]);
    }
    is_int(good, ROUNDS / 10000,
           "the regions equal one number for each block, checked in 200000 calls");
    is_int(taken, 0, "regions_take returns the block's region each time");
    regions_close(own[0]);
    regions_note(addr_of(1), 0);
    regions_lock();
    regions_each(own[0], move, &own[1]);
    regions_unlock();
    ok(same(own[0]) && same(own[1]) && regions_at(own[0])->blocks == 0,
       "regions_each moves half of the blocks to another region");
    for (uint32_t i = 0; i < BLOCKS; i++) {
        regions_take(addr_of(i));
        model[i] = 0;
    }
    ok(same(0), "no block is left after each one is taken");
    for (uint32_t i = 0; i < 4; i++) {
        regions_close(own[i]);
        regions_end(own[i]);
    }
    ok(!any_feature_on(), "no feature is on after the last region");
}

static void test_order(void)
{
    uint32_t outer, inner, all, second, n = 0;
    char longer[1000];

    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    outer = regions_open(NULL, 0, 0);
    inner = regions_open("", 0, outer);
    is_str(regions_at(inner)->name, "unnamed", "a region with an empty name is unnamed");
    regions_close(inner);
    is_int(regions_heir(inner), outer, "the outer region is the heir of the inner one");
    regions_end(inner);
    all = regions_open(longer, REGION_EVERYWHERE, 0);
    is_int(strlen(regions_at(all)->name), REGION_NAME_MAX - 1, "a long region name is truncated");
    second = regions_open("second", REGION_EVERYWHERE, 0);
    regions_note(BASE, 0);
    is_int(regions_at(second)->blocks, 1,
           "a block without a region of its thread goes to the newest region of all threads");
    regions_note(BASE + 64, outer);
    is_int(regions_at(outer)->blocks, 1, "a block with a region of its thread goes to that region");
    regions_close(second);
    is_int(regions_heir(second), all,
           "the older region of all threads is the heir of the newer one");
    regions_note(BASE + 128, 0);
    is_int(regions_at(all)->blocks, 1,
           "new blocks go to the older region once the newer one is closed");
    regions_put_back(BASE + 192, second);
    is_int(regions_at(second)->blocks, 1,
           "a closed region takes back the blocks that belonged to it");
    regions_end(second);
    regions_close(all);
    regions_end(all);
    while ((all = regions_open("many", REGION_BLIND, 0)))
        n++;
    is_int(n, REGIONS_MAX - 2, "at most REGIONS_MAX regions are open");
    regions_after_fork();
    ok(!any_feature_on() && regions_open("fork", 0, 0) == 1,
       "a forked child begins without regions");
}

int main(void)
{
    test_blocks();
    test_order();
    return done_testing();
}
