/* rnd.h: numbers that look random and are the same in every run (xorshift64). */
#ifndef FLAME_TESTS_RND_H
#define FLAME_TESTS_RND_H

#include <stdint.h>

static inline unsigned rnd(void)
{
    static uint64_t x = 88172645463325252u;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return (unsigned)(x >> 32);
}

#endif
