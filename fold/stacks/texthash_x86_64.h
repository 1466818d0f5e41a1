/*
 * texthash_x86_64.h: sixteen bytes of a text examined at once, with SSE2, which every x86-64
 * has. texthash_portable.h is the same for other processors. Pure functions.
 */
#ifndef FLAME_FOLD_STACKS_TEXTHASH_X86_64_H
#define FLAME_FOLD_STACKS_TEXTHASH_X86_64_H

#include <emmintrin.h>
#include <stddef.h>
#include <stdint.h>

/* Sixteen bytes that are searched for a stop. */
typedef __m128i texthash_piece;

static inline texthash_piece texthash_piece_at(const char *s)
{
    return _mm_loadu_si128((const __m128i *)(const void *)s);
}

/* Bit i of the result: byte i is `stop`. */
static inline unsigned texthash_stops(texthash_piece v, char stop)
{
    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8(stop)));
}

/* The sixteen bytes as two words, the first bytes lowest. */
static inline void texthash_halves(texthash_piece v, uint64_t half[2])
{
    _mm_storeu_si128((__m128i *)(void *)half, v);
}

/* Like texthash_halves, for the first n < 16 bytes; the others are 0. */
static inline void texthash_first(texthash_piece v, size_t n, uint64_t half[2])
{
    static const unsigned char keep[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                           255, 255, 255, 255, 255, 255, 255, 255};

    v = _mm_and_si128(v, _mm_loadu_si128((const __m128i *)(const void *)(keep + 16 - n)));
    texthash_halves(v, half);
}

#endif
