/*
 * hash.h: hashes of words, bytes and texts. Pure.
 *
 * HASH_GOLDEN is 2^64 divided by the golden ratio, HASH_GOLDEN32 2^32: odd numbers, the multipliers
 * of Fibonacci hashing (Knuth, The Art of Computer Programming, volume 3, 6.4). The upper bits of a
 * product are the good ones: take these, or fold them into the lower.
 *
 * fnv_bytes() and fnv_text() are FNV-1a with 64 bits (of Fowler, Noll and Vo). They continue the
 * hash that they get: FNV_BASIS, or a result from before. Its low bits are weak: mix once more to
 * use them.
 */
#ifndef FLAME_COMMON_HASH_H
#define FLAME_COMMON_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_GOLDEN UINT64_C(0x9e3779b97f4a7c15)
#define HASH_GOLDEN32 0x9e3779b1u

#define FNV_BASIS 0xcbf29ce484222325u

static inline uint64_t fnv_bytes(uint64_t hash, const void *data, size_t len)
{
    const uint8_t *bytes = data;

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

/* With its NUL, so that no two texts run together. NULL is "". */
static inline uint64_t fnv_text(uint64_t hash, const char *s)
{
    return s ? fnv_bytes(hash, s, strlen(s) + 1) : fnv_bytes(hash, "", 1);
}

#endif
