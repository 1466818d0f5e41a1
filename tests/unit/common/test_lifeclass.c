/* The classes of sizes, times and bytes: each value is in one class, within its bounds. */
#include "common/trace/lifeclass.h"
#include "tests/tap.h"

static uint32_t class_of(enum histogram of, uint64_t value)
{
    return of == HISTOGRAM_SIZES    ? lifeclass_size(value)
           : lifeclass_in_bytes(of) ? lifeclass_bytes(value)
                                    : lifeclass_time(value);
}

/* Classes follow one another without a gap, and begin and end where their bounds are. */
static void bounds(enum histogram of, uint32_t classes)
{
    uint64_t next = 0, from, to;
    bool same = true;

    for (uint32_t class = 0; class < classes; class ++) {
        lifeclass_bounds(of, class, &from, &to);
        same = same && from == next && to >= from && class_of(of, from) == class &&
               class_of(of, to - (to == UINT64_MAX)) == class &&
               lifeclass_is(lifeclass_number(of, class));
        next = to + 1;
    }
    ok(same, "histogram %d: each class begins where the one before ends", (int)of);
    is_int((intmax_t)next, 0, "the last class of a histogram ends at the largest number");
    lifeclass_bounds(of, LIFECLASS_UNKNOWN, &from, &to);
    ok(from == 0 && to == 0, "the class of unknown values has no bounds");
}

static void limits(void)
{
    uint64_t below, above;

    is_int(lifeclass_from(HISTOGRAM_AGES, 5000000, &below, &above), lifeclass_time(5000000),
           "5 ms is a bound of ages");
    is_int(lifeclass_from(HISTOGRAM_AGES, 3000000, &below, &above), LIFECLASS_UNKNOWN,
           "3 ms is not a bound of ages");
    ok(below == 2000000 && above == 5000000, "2 and 5 ms are the bounds around 3 ms");
    is_int(lifeclass_from(HISTOGRAM_LIFETIMES, 0, &below, &above), LIFECLASS_UNKNOWN,
           "0 is not a bound of lifetimes");
    ok(below == 1000 && above == 1000, "1 us is the least bound of lifetimes");
    is_int(lifeclass_from(HISTOGRAM_LIFETIMES_BYTES, 65536, &below, &above), lifeclass_bytes(65536),
           "64 KiB is a bound of lifetimes in bytes");
    is_int(lifeclass_from(HISTOGRAM_LIFETIMES_BYTES, 65537, &below, &above), LIFECLASS_UNKNOWN,
           "65537 bytes are not a bound");
    ok(below == 65536 && above == 131072, "64 and 128 KiB are the bounds around 65537 bytes");
    is_int(lifeclass_from(HISTOGRAM_LIFETIMES_BYTES, UINT64_MAX, &below, &above), LIFECLASS_UNKNOWN,
           "UINT64_MAX is not a bound");
    ok(below == above, "the bounds around UINT64_MAX are equal");
}

int main(void)
{
    bounds(HISTOGRAM_SIZES, LIFECLASS_SIZES);
    bounds(HISTOGRAM_LIFETIMES, LIFECLASS_LIVES);
    bounds(HISTOGRAM_LIFETIMES_BYTES, LIFECLASS_LIVES);
    bounds(HISTOGRAM_AGES, LIFECLASS_LIVES);
    bounds(HISTOGRAM_AGES_BYTES, LIFECLASS_LIVES);
    is_int(lifeclass_size(64), lifeclass_size(33), "33 to 64 bytes are one class");
    is_int(lifeclass_size(65), lifeclass_size(64) + 1, "65 bytes are in the next class");
    is_int(lifeclass_time(999), 0, "999 ns are in the class below 1 us");
    is_int(lifeclass_time(1000), 1, "1 us is in class 1");
    is_int(lifeclass_time(1999), 1, "1,999 ns are in class 1");
    is_int(lifeclass_time(1000000), lifeclass_time(999999) + 1, "1 ms begins a class");
    ok(!lifeclass_is(0) && !lifeclass_is(255) && !lifeclass_is(HISTOGRAMS << 8) &&
           !lifeclass_is(HISTOGRAM_SIZES << 8 | LIFECLASS_SIZES) &&
           !lifeclass_is(HISTOGRAM_AGES << 8 | (LIFECLASS_UNKNOWN + 1)) &&
           !lifeclass_is((uint64_t)1 << 40 | HISTOGRAM_AGES << 8),
       "lifeclass_is refuses numbers out of range");
    ok(lifeclass_is(lifeclass_number(HISTOGRAM_AGES, LIFECLASS_UNKNOWN)),
       "lifeclass_is accepts the class of unknown values");
    limits();
    return done_testing();
}
