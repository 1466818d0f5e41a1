/*
 * texthash.h: a fast hash of bytes, for tables in memory only.
 *
 * Multiplies 16 bytes at a time into 128 bits and folds the halves together. The
 * seed differs from run to run, so that no input can be made whose names all
 * fall into one slot. Pure functions, thread-safe.
 */
#ifndef FLAME_FOLD_STACKS_TEXTHASH_H
#define FLAME_FOLD_STACKS_TEXTHASH_H

#include <stdbool.h>

#include "common/compiler.h"
#include "common/hash.h"
#if defined(__x86_64__)
#include "fold/stacks/texthash_x86_64.h"
#else
#include "fold/stacks/texthash_portable.h"

typedef struct texthash_words texthash_piece;
#define texthash_piece_at texthash_words_at
#define texthash_stops texthash_words_stops
#define texthash_first texthash_words_first
#define texthash_halves(v, to) memcpy((to), (v).half, sizeof(v).half)
#endif

uint64_t texthash_seed(void);

static inline uint64_t texthash_mix(uint64_t a, uint64_t b)
{
    unsigned __int128 m = (unsigned __int128)a * b;

    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline uint64_t texthash_load(const char *s)
{
    uint64_t v;

    memcpy(&v, s, sizeof v);
    return v;
}

static inline uint64_t texthash(const void *data, size_t len, uint64_t seed)
{
    const uint64_t k0 = HASH_GOLDEN, k1 = 0xc2b2ae3d27d4eb4f;
    const char *s = data;
    uint64_t h = seed ^ (len * k1), a = 0, b = 0;
    size_t left = len;

    for (; left > 16; left -= 16, s += 16)
        h = texthash_mix(texthash_load(s) ^ k0 ^ h, texthash_load(s + 8) ^ k1);
    if (left >= 8) {
        a = texthash_load(s);
        b = texthash_load(s + left - 8);
    } else if (left) { /* where nothing is there need be no address */
        memcpy(&a, s, left);
    }
    return texthash_mix(a ^ k0 ^ h, b ^ k1 ^ (h >> 32));
}

/*
 * Hashes a name and finds its end in one pass: *len is the offset of the first `stop` in
 * s[0..left), or `left` if there is none. It takes sixteen bytes a step; its values are not
 * texthash's.
 */
static inline uint64_t texthash_until(const char *s, size_t left, char stop, uint64_t seed,
                                      size_t *len)
{
    const uint64_t k0 = HASH_GOLDEN, k1 = 0xc2b2ae3d27d4eb4f;
    uint64_t h = seed, half[2];
    texthash_piece v;
    unsigned stops;
    size_t at = 0, n;

    for (;; at += 16) {
        if (left - at >= 16) {
            v = texthash_piece_at(s + at);
        } else {
            char last[16] = {0};

            for (n = 0; n < left - at; n++)
                last[n] = s[at + n];
            last[n] = stop;
            v = texthash_piece_at(last);
        }
        stops = texthash_stops(v, stop);
        if (stops)
            break;
        texthash_halves(v, half);
        h = texthash_mix(half[0] ^ k0 ^ h, half[1] ^ k1);
    }
    n = (size_t)__builtin_ctz(stops);
    texthash_first(v, n, half);
    *len = at + n;
    return texthash_mix(half[0] ^ k0 ^ h, half[1] ^ k1 ^ *len);
}

/* Whether two texts of one length are the same; from 8 bytes on without a call of memcmp. */
static inline bool texthash_same(const char *a, const char *b, size_t len)
{
    size_t i = 0;

    if (len < 8)
        return memcmp(a, b, len) == 0;
    for (; i + 8 < len; i += 8)
        if (texthash_load(a + i) != texthash_load(b + i))
            return false;
    return texthash_load(a + len - 8) == texthash_load(b + len - 8);
}

#endif
