/*
 * wrapping.h: sums of what programs have counted. A trace lies in the program's memory, and the
 * program may have overwritten it. Then such a sum is wrong, but not undefined behaviour. Pure.
 */
#ifndef FLAME_COMMON_TRACE_WRAPPING_H
#define FLAME_COMMON_TRACE_WRAPPING_H

#include <stdint.h>

static inline int64_t wrapping_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t wrapping_sub(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* How far it is from 0. */
static inline uint64_t wrapping_size(int64_t a)
{
    return a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
}

#endif
