/*
 * Frees in two steps: committed, aborted, and of blocks that are not known, with and without
 * features that track blocks.
 */
#include "preload/free_txn.h"

#include <errno.h>

#include "preload/sidetables/birthmap.h"
#include "preload/sidetables/pausedblocks.h"
#include "preload/sidetables/regions.h"
#include "preload/record.h"
#include "tests/tap.h"
#include "tests/unit/scratch_store.h"

#define ADDR ((uintptr_t)1 << 40)
#define SIZE 48

static struct thread_state *self;
static int drains;

/* The recorder's own is part of its hooks. */
void first_touch_drain(enum first_touch_drain when FLAME_UNUSED)
{
    drains++;
}

static uint32_t own_row;

/* Begins the free of the block at ADDR, after it was entered as the program's. */
static struct free_txn begun(void)
{
    struct free_txn f;

    shadow_put(ADDR, (struct block){.row = own_row, .size = SIZE});
    free_begin(&f, (const void *)ADDR);
    return f;
}

static bool is_known(void)
{
    struct block b = {0};

    return shadow_find(ADDR, &b) && b.row == own_row && b.size == SIZE;
}

static uint64_t frees(void)
{
    return store_row(own_row)->free_calls;
}

static void without_features(void)
{
    struct free_txn f;

    free_begin(&f, (const void *)ADDR);
    is_int(f.what, FREE_OF_UNKNOWN, "a block that was never entered is not known");
    free_commit(&f);
    free_abort(&f);
    ok(!is_known() && frees() == 0, "neither step of an unknown block changes anything");

    f = begun();
    ok(f.what == FREE_PLAIN && !is_known(), "a free that has begun takes the block from the map");
    ok(frees() == 0, "a free that has begun is not counted");
    free_abort(&f);
    ok(is_known() && frees() == 0, "an aborted free restores the block and counts nothing");

    errno = 7;
    f = begun();
    free_commit(&f);
    ok(!is_known() && frees() == 1, "a committed free is counted once");
    is_int(errno, 7, "errno is preserved");
    is_int((long)store_row(own_row)->free_bytes, SIZE, "a committed free counts the block's size");
    is_int((long)store_row(own_row)->temp_calls, 0,
           "a block that is not the newest is not temporary");
    self->last_block = ADDR;
    f = begun();
    free_commit(&f);
    is_int((long)store_row(own_row)->temp_calls, 1, "the free of the newest block is temporary");
}

/* Region of the block at ADDR. */
static uint32_t region_of(uint32_t region)
{
    bool has;

    regions_lock();
    has = regions_has(ADDR, region);
    regions_unlock();
    return has ? region : 0;
}

static void with_regions(void)
{
    uint32_t region = regions_open("part", 0, 0);
    struct free_txn f;
    uint64_t before = frees();

    regions_note(ADDR, region);
    is_int(region_of(region), region, "the block belongs to a region");
    f = begun();
    ok(f.what == FREE_TRACKED && f.region == region, "a free that has begun knows the region");
    is_int(region_of(region), 0, "a free that has begun takes the block from its region");
    free_abort(&f);
    ok(is_known() && region_of(region) == region, "an aborted free restores the region as well");
    free_begin(&f, (const void *)ADDR);
    free_commit(&f);
    ok(!is_known() && !region_of(region) && frees() == before + 1,
       "a committed free leaves neither block nor region");
    regions_close(region);
    regions_end(region);
}

static void with_births(void)
{
    struct free_txn f;

    births_begin();
    births_put(ADDR, 1234);
    __atomic_fetch_or(&features_on, FEATURE_LIFETIMES, __ATOMIC_RELEASE);
    f = begun();
    births_put(ADDR, 5678); /* another thread has got the address meanwhile */
    is_int((long)f.birth, 1234, "a free that has begun keeps the birth of its own block");
    __atomic_fetch_and(&features_on, ~(uint32_t)FEATURE_LIFETIMES, __ATOMIC_RELEASE);
    free_abort(&f);
    ok(is_known(), "a free that began with lifetimes is aborted without them");
    free_begin(&f, (const void *)ADDR);
    free_commit(&f);
}

static void in_pauses(void)
{
    struct free_txn f;
    uint64_t before = frees();

    __atomic_fetch_or(&features_on, FEATURE_REMEMBER_PAUSED, __ATOMIC_RELEASE);
    pausedblocks_remember();
    pausedblocks_put(ADDR, SIZE);
    free_begin(&f, (const void *)ADDR);
    ok(f.what == FREE_UNCOUNTED && !pausedblocks_has(ADDR),
       "a free that has begun takes an uncounted block");
    free_abort(&f);
    ok(pausedblocks_has(ADDR), "an aborted free restores an uncounted block");
    free_block((const void *)ADDR);
    ok(!pausedblocks_has(ADDR) && frees() == before,
       "the free of an uncounted block removes it and is not counted");
    free_begin(&f, (const void *)ADDR);
    is_int(f.what, FREE_OF_UNKNOWN, "an uncounted block is known once");
    free_abort(&f);
    ok(!pausedblocks_has(ADDR), "the abort of an unknown block adds none");
    __atomic_fetch_and(&features_on, ~(uint32_t)FEATURE_REMEMBER_PAUSED, __ATOMIC_RELEASE);
}

static void with_faults(void)
{
    struct free_txn f;

    is_int(drains, 0, "no page fault is counted unless they are recorded");
    __atomic_fetch_or(&features_on, FEATURE_FAULTS, __ATOMIC_RELEASE);
    f = begun();
    is_int(drains, 1, "page faults so far are counted before a block is freed");
    free_commit(&f);
    __atomic_fetch_and(&features_on, ~(uint32_t)FEATURE_FAULTS, __ATOMIC_RELEASE);
}

int main(void)
{
    if (!scratch_store_open() || !(self = threads_self())) {
        ok(false, "a scratch trace is opened");
        return done_testing();
    }
    own_row = threads_new_row(self, 0, 0);
    without_features();
    with_regions();
    with_births();
    in_pauses();
    with_faults();
    scratch_store_close();
    return done_testing();
}
