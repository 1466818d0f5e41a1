/*
 * upper_bound.h: binary search in an array that is sorted by addresses.
 */
#ifndef FLAME_PRELOAD_RUNTIME_UPPER_BOUND_H
#define FLAME_PRELOAD_RUNTIME_UPPER_BOUND_H

#include <stddef.h>

#include "common/compiler.h"

/*
 * Index of the first item above `addr`, n if there is none. `key` is the address of the first
 * item's key, which may be one of its members; items are `size` bytes.
 */
static inline size_t upper_bound(const uintptr_t *key, size_t n, size_t size, uintptr_t addr)
{
    size_t lo = 0, hi = n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (*(const uintptr_t *)((const char *)key + mid * size) <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

#endif
