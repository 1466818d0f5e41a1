/*
 * sampler.h: choice of the blocks that are recorded if blocks are sampled, and the weight of each.
 *
 * Sample points lie on the line of all bytes that a thread requests, at distances drawn from an
 * exponential distribution with mean `period` bytes. A block is recorded if at least one point
 * falls into it, which happens with probability p = 1 - exp(-size / period), independently of all
 * other blocks. A recorded block counts as 1/p blocks and size/p bytes: unbiased for every block by
 * itself, so any sum of them is too. (The scheme is jemalloc's and tcmalloc's; the formula is that
 * of a Poisson process's empty interval.) A block of 0 bytes is drawn as one of 1 byte.
 *
 * Counts are whole numbers: 1/p is rounded up or down by a hash of the block's address. So rounding
 * is unbiased, and the free of a block subtracts exactly what its allocation added.
 *
 * One sampler a thread. No libm: the recorder must not bring libraries along.
 */
#ifndef FLAME_PRELOAD_SIDETABLES_SAMPLER_H
#define FLAME_PRELOAD_SIDETABLES_SAMPLER_H

#include <stdbool.h>

#include "common/compiler.h"

struct sampler {
    int64_t left; /* bytes to the next sample point */
    uint64_t random;
};

/* Bytes and calls with which one block counts. */
struct weight {
    uint64_t bytes, calls;
};

/* `period` is at least 1. */
void sampler_init(struct sampler *s, uint64_t period, uint64_t seed);

/* Draws distances from the last point on until a point lies ahead. */
void sampler_next(struct sampler *s, uint64_t period);

/* Whether no point falls into a block of `size` bytes; if so, the sampler moves past the block. */
static inline bool sampler_passes(struct sampler *s, uint64_t size)
{
    uint64_t step = size ? size : 1;

    if (unlikely(step >= (uint64_t)s->left))
        return false;
    s->left -= (int64_t)step;
    return true;
}

/* Moves past a block of `size` bytes; returns whether it is recorded. */
static inline bool sampler_take(struct sampler *s, uint64_t period, uint64_t size)
{
    if (sampler_passes(s, size))
        return false;
    sampler_next(s, period);
    return true;
}

/* Weight of the recorded block of `size` bytes at `addr`. */
struct weight sampler_weight(uint64_t period, uint64_t size, uintptr_t addr);

#endif
