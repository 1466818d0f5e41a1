/* Births of blocks by address, and the clocks that measure them. */
#include "preload/sidetables/birthmap.h"
#include "preload/sidetables/age_clock.h"
#include "tests/tap.h"

#include <time.h>

static void addresses(void)
{
    static const uintptr_t at[] = {0x10,           0x18,           0x20,           0x7fffff,
                                   0x7ffff0,       0x800000,       0x3fffffff0,    0x400000000,
                                   0x7ffffffffff0, 0x7ffffffffff8, 0x555555554010, 0x555555554018};

    ok(births_begin(), "births_begin succeeds");
    is_int((intmax_t)births_at(0x12340), 0, "an address without a block has birth 0");
    for (size_t i = 0; i < ARRAY_LEN(at); i++)
        births_put(at[i], i + 1);
    for (size_t i = 0; i < ARRAY_LEN(at); i++)
        is_int((intmax_t)births_at(at[i]), at[i] & 7 ? 0 : (intmax_t)i + 1,
               "births_at returns the birth at %zx, or 0 if the address is not aligned to 8",
               (size_t)at[i]);
    births_put(0x20, 99);
    is_int((intmax_t)births_at(0x20), 99, "a new block replaces the birth of the old one");
    births_put((uintptr_t)1 << 47, 7);
    is_int((intmax_t)births_at((uintptr_t)1 << 47), 0,
           "an address of more than 47 bits has no birth");
}

static void bytes(void)
{
    uint64_t own = 0, others = 0, then;

    age_clock_begin(true);
    age_clock_advance(&own, 100);
    then = age_clock_now(own);
    is_int((intmax_t)age_clock_since(then, age_clock_now(own)), 0,
           "the age clock does not advance without allocations");
    age_clock_advance(&own, 7);
    is_int((intmax_t)age_clock_since(then, age_clock_now(own)), 7,
           "the age clock advances by 7 allocated bytes");
    age_clock_advance(&own, 1000000);
    is_int((intmax_t)age_clock_since(then, age_clock_now(own)), 1000007,
           "the age clock advances by a million more allocated bytes");
    is_int((intmax_t)own, 0, "a large advance is shared with other threads");
    is_int((intmax_t)age_clock_since(then, age_clock_now(others)), 1000007,
           "other threads see the age clock to the byte after a large advance");
    age_clock_advance(&own, AGE_CLOCK_STEP - 1);
    is_int((intmax_t)age_clock_since(then, age_clock_now(others)), 1000007,
           "other threads do not see an advance below AGE_CLOCK_STEP");
    is_int((intmax_t)age_clock_since(age_clock_now(own), then), 0, "the age of a later birth is 0");
}

/* The counter's time lies between two measurements of CLOCK_MONOTONIC, one just inside it and one
 * just outside. This holds if it is first read after a while, and then after long and short times.
 */
static void times(void)
{
    const struct timespec pause[] = {{0, 2000000}, {0, 30000000}, {0, 0}, {0, 500000}};

    age_clock_begin(false);
    for (size_t i = 0; i < ARRAY_LEN(pause); i++) {
        uint64_t before = clock_ns(CLOCK_MONOTONIC), then = age_clock_now(0),
                 least = clock_ns(CLOCK_MONOTONIC), most, reported;

        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause[i], NULL);
        least = clock_ns(CLOCK_MONOTONIC) - least;
        reported = age_clock_now(0);
        most = clock_ns(CLOCK_MONOTONIC) - before;
        reported = age_clock_since(then, reported);
        ok(reported + 1000 + least / 10000 >= least && reported <= most + 1000 + most / 10000,
           "age %zu in time: %ju ns, at least %ju, at most %ju", i, (uintmax_t)reported,
           (uintmax_t)least, (uintmax_t)most);
    }
    ok(age_clock_since(age_clock_now(0) + 1000000, age_clock_now(0)) == 0,
       "the age of a birth in the future is 0");
}

int main(void)
{
    addresses();
    bytes();
    times();
    return done_testing();
}
