#include "common/trace/lifeclass.h"

const uint64_t lifeclass_times[LIFECLASS_LIVES + 1] = {
    0,
    1000ull,
    2000ull,
    5000ull,
    10000ull,
    20000ull,
    50000ull,
    100000ull,
    200000ull,
    500000ull,
    1000000ull,
    2000000ull,
    5000000ull,
    10000000ull,
    20000000ull,
    50000000ull,
    100000000ull,
    200000000ull,
    500000000ull,
    1000000000ull,
    2000000000ull,
    5000000000ull,
    10000000000ull,
    20000000000ull,
    50000000000ull,
    100000000000ull,
    200000000000ull,
    500000000000ull,
    1000000000000ull,
    2000000000000ull,
    5000000000000ull,
    10000000000000ull,
    20000000000000ull,
    50000000000000ull,
    100000000000000ull,
    UINT64_MAX,
};

const uint8_t lifeclass_octaves[64] = {
    0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  1,  2,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
    11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 29, 30,
    31, 32, 33, 34, 34, 34, 34, 34, 34, 34, 34, 34, 34, 34, 34, 34, 34, 34, 34, 34,
};

bool lifeclass_is(uint64_t number)
{
    uint64_t of = number >> 8, class = number & 255;

    return of && of < HISTOGRAMS &&
           class < (of == HISTOGRAM_SIZES ? LIFECLASS_SIZES : LIFECLASS_LIVES + 1);
}

static uint64_t begin_of(enum histogram of, uint32_t class)
{
    if (!class)
        return 0;
    if (of == HISTOGRAM_SIZES)
        return ((uint64_t)8 << (class - 1)) + 1;
    return lifeclass_in_bytes(of) ? (uint64_t)1024 << (class - 1) : lifeclass_times[class];
}

void lifeclass_bounds(enum histogram of, uint32_t class, uint64_t *from, uint64_t *to)
{
    uint32_t last = (of == HISTOGRAM_SIZES ? LIFECLASS_SIZES : LIFECLASS_LIVES) - 1;

    *from = class <= last ? begin_of(of, class) : 0;
    *to = class < last ? begin_of(of, class + 1) - 1 : class == last ? UINT64_MAX : 0;
}

uint32_t lifeclass_from(enum histogram of, uint64_t value, uint64_t *below, uint64_t *above)
{
    uint32_t class = lifeclass_in_bytes(of) ? lifeclass_bytes(value) : lifeclass_time(value);

    *below = begin_of(of, class);
    *above = class + 1 < LIFECLASS_LIVES ? begin_of(of, class + 1) : *below;
    if (!class) /* a limit of 0 is no limit */
        *below = *above;
    return value && value == *below ? class : LIFECLASS_UNKNOWN;
}
