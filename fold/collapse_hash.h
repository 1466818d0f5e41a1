/*
 * collapse_hash.h: a fast hash of bytes, for tables in memory only.
 *
 * Multiplies 16 bytes at a time into 128 bits and folds the halves together. The
 * seed differs from run to run, so that no input can be made whose names all
 * fall into one slot. Pure functions, thread-safe.
 */
#ifndef FLAME_FOLD_COLLAPSE_HASH_H
#define FLAME_FOLD_COLLAPSE_HASH_H

#include "common/compiler.h"

uint64_t collapse_hash_seed(void);

static inline uint64_t collapse_hash_mix(uint64_t a, uint64_t b)
{
    unsigned __int128 m = (unsigned __int128)a * b;

    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline uint64_t collapse_hash_load(const char *s)
{
    uint64_t v;

    memcpy(&v, s, sizeof v);
    return v;
}

static inline uint64_t collapse_hash(const void *data, size_t len, uint64_t seed)
{
    const uint64_t k0 = 0x9e3779b97f4a7c15, k1 = 0xc2b2ae3d27d4eb4f;
    const char *s = data;
    uint64_t h = seed ^ (len * k1), a = 0, b = 0;
    size_t left = len;

    for (; left > 16; left -= 16, s += 16)
        h = collapse_hash_mix(collapse_hash_load(s) ^ k0 ^ h, collapse_hash_load(s + 8) ^ k1);
    if (left >= 8) {
        a = collapse_hash_load(s);
        b = collapse_hash_load(s + left - 8);
    } else {
        memcpy(&a, s, left);
    }
    return collapse_hash_mix(a ^ k0 ^ h, b ^ k1 ^ (h >> 32));
}

#endif
