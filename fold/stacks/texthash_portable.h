/*
 * texthash_portable.h: the functions of texthash_x86_64.h in plain C, for little-endian
 * processors. The values are the same; tests compare the two. Its functions have names of their
 * own, so that one program can have both; texthash.h chooses. Pure functions.
 */
#ifndef FLAME_FOLD_STACKS_TEXTHASH_PORTABLE_H
#define FLAME_FOLD_STACKS_TEXTHASH_PORTABLE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first byte of a word is its lowest");

struct texthash_words {
    uint64_t half[2];
};

static inline struct texthash_words texthash_words_at(const char *s)
{
    struct texthash_words v;

    memcpy(v.half, s, sizeof v.half);
    return v;
}

/*
 * The highest bit of each byte of `word` that is `stop`, no other. A byte is 0 if it has neither
 * its highest bit nor, with 0x7f added to the others, a carry into that: no carry leaves a byte,
 * so this is exact.
 */
static inline uint64_t texthash_marks(uint64_t word, char stop)
{
    const uint64_t low = 0x7f7f7f7f7f7f7f7f;

    word ^= (unsigned char)stop * (uint64_t)0x0101010101010101;
    return ~(((word & low) + low) | word | low);
}

/* One bit for each of the marks: the product brings them together in the highest byte. */
static inline unsigned texthash_gather(uint64_t marks)
{
    return (unsigned)((marks >> 7) * 0x0102040810204080 >> 56);
}

static inline unsigned texthash_words_stops(struct texthash_words v, char stop)
{
    return texthash_gather(texthash_marks(v.half[0], stop)) |
           texthash_gather(texthash_marks(v.half[1], stop)) << 8;
}

static inline void texthash_words_first(struct texthash_words v, size_t n, uint64_t half[2])
{
    half[0] = n >= 8 ? v.half[0] : v.half[0] & (((uint64_t)1 << 8 * n) - 1);
    half[1] = n <= 8 ? 0 : v.half[1] & (((uint64_t)1 << 8 * (n - 8)) - 1);
}

#endif
