/*
 * lifeclass.h: classes of histograms: computes the class of a size, a lifetime or an age, and the
 * bounds of a class.
 *
 * Sizes: 8 bytes and less, then by powers of two (9 to 16, 17 to 32, ...), the last one over 512
 * MiB. Times: under 1 us, then 1, 2, 5, 10, 20, 50 us and so on, the last from 100,000 s on. Bytes
 * allocated meanwhile: under 1 KiB, then by powers of two, the last from 8 TiB on. So usual limits
 * (1 ms, 64 KiB) are bounds of classes, and the count of shorter or smaller ones is exact.
 * Lifetimes and ages have one more class, of blocks whose birth is not known.
 *
 * Used in the recorder as well: no malloc, no locks, any thread.
 */
#ifndef FLAME_COMMON_TRACE_LIFECLASS_H
#define FLAME_COMMON_TRACE_LIFECLASS_H

#include <stdbool.h>

#include "common/compiler.h"

/* Quantity that a histogram counts. On disk: see TRACE_NODE_CLASS. */
enum histogram {
    HISTOGRAM_SIZES = 1,           /* of blocks, in bytes */
    HISTOGRAM_LIFETIMES = 2,       /* of blocks that were freed, in nanoseconds */
    HISTOGRAM_LIFETIMES_BYTES = 3, /* of freed blocks, in bytes that the process allocated
                                    * meanwhile */
    HISTOGRAM_AGES = 4,            /* of blocks that live at the end, in nanoseconds */
    HISTOGRAM_AGES_BYTES = 5,      /* of blocks that live at the end, in bytes allocated since */
};
#define HISTOGRAMS 6

#define LIFECLASS_SIZES 28u
#define LIFECLASS_LIVES 35u
#define LIFECLASS_UNKNOWN LIFECLASS_LIVES /* of lifetimes and ages */

/* Encodes a histogram and one of its classes as one number, which is not 0. */
static inline uint32_t lifeclass_number(enum histogram of, uint32_t class)
{
    return (uint32_t)of << 8 | class;
}

/* Whether `number` is that of a histogram's class. */
bool lifeclass_is(uint64_t number);

static inline enum histogram lifeclass_of(uint64_t number)
{
    return (enum histogram)(number >> 8);
}

static inline uint32_t lifeclass_class(uint64_t number)
{
    return (uint32_t)(number & 255);
}

/* Whether a histogram's classes are lifetimes or ages. */
static inline bool lifeclass_is_lifetimes(enum histogram of)
{
    return of == HISTOGRAM_LIFETIMES || of == HISTOGRAM_LIFETIMES_BYTES;
}

static inline bool lifeclass_is_ages(enum histogram of)
{
    return of == HISTOGRAM_AGES || of == HISTOGRAM_AGES_BYTES;
}

static inline bool lifeclass_in_bytes(enum histogram of)
{
    return of != HISTOGRAM_LIFETIMES && of != HISTOGRAM_AGES;
}

/* The least and the greatest value in the class; the last class has UINT64_MAX as its greatest.
 * Both are 0 for LIFECLASS_UNKNOWN. */
void lifeclass_bounds(enum histogram of, uint32_t class, uint64_t *from, uint64_t *to);

/* Class that begins at `value`: it has only lifetimes of `value` or longer. LIFECLASS_UNKNOWN when
 * no class begins there: then *below and *above are the nearest bounds. */
uint32_t lifeclass_from(enum histogram of, uint64_t value, uint64_t *below, uint64_t *above);

static inline uint32_t lifeclass_log2(uint64_t n)
{
    return 63u - (uint32_t)__builtin_clzll(n);
}

static inline uint32_t lifeclass_size(uint64_t bytes)
{
    uint32_t class = bytes <= 8 ? 0 : lifeclass_log2(bytes - 1) - 2;

    return class < LIFECLASS_SIZES ? class : LIFECLASS_SIZES - 1;
}

static inline uint32_t lifeclass_bytes(uint64_t bytes)
{
    uint32_t class = bytes < 1024 ? 0 : lifeclass_log2(bytes) - 9;

    return class < LIFECLASS_LIVES ? class : LIFECLASS_LIVES - 1;
}

/* Class of the first value of each octave (a power of two). An octave has one bound of 1, 2, 5, 10
 * at most, so that one comparison does the rest. */
extern const uint8_t lifeclass_octaves[64];
extern const uint64_t
    lifeclass_times[LIFECLASS_LIVES + 1]; /* the values at which classes begin; then UINT64_MAX */

static inline uint32_t lifeclass_time(uint64_t ns)
{
    uint32_t class = lifeclass_octaves[lifeclass_log2(ns | 1)];

    return class + (ns >= lifeclass_times[class + 1]);
}

#endif
