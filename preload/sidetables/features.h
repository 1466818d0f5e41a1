/*
 * features.h: mask of optional per-block features; 0 by default, so the hot path tests one word,
 * once an event.
 */
#ifndef FLAME_PRELOAD_SIDETABLES_FEATURES_H
#define FLAME_PRELOAD_SIDETABLES_FEATURES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"

enum watch {
    WATCH_REGIONS = 1u << 0,   /* regions are open (regions.h) */
    WATCH_SAMPLES = 1u << 1,   /* blocks are sampled (sampler.h) */
    WATCH_MISUSE = 1u << 2,    /* frees are judged (alloc_family.h, recent_frees.h) */
    WATCH_PAUSES = 1u << 3,    /* a thread does not count its allocations (pausedblocks.h) */
    WATCH_POOLS = 1u << 5,     /* blocks have parts that pools hand out (pools.h) */
    WATCH_LEFT_OUT = 1u << 4,  /* and uncounted blocks are remembered */
    WATCH_LIFETIMES = 1u << 6, /* lifetimes of blocks are recorded (age_clock.h, birthmap.h) */
    WATCH_PYTHON = 1u << 8,    /* stacks have the names of Python's functions */
    WATCH_FAULTS = 1u << 7,    /* page faults are counted for the owners of the memory */
};

extern uint32_t watch_what; /* bits of enum watch; any thread reads it */

static inline uint32_t watch_is_on(void)
{
    return __atomic_load_n(&watch_what, __ATOMIC_RELAXED);
}

static inline bool watch_has(enum watch what)
{
    return unlikely(watch_is_on() & what);
}

/*
 * Numbers of blocks that the program got and gave back without the recorder: calls from within
 * hooks, blocks there was no room to record. Counted in every program, as it hardly happens.
 */
extern struct watch_missed {
    uint32_t allocs, frees;
} watch_missed;

static inline void watch_miss_alloc(void)
{
    __atomic_fetch_add(&watch_missed.allocs, 1, __ATOMIC_RELAXED);
}

static inline void watch_miss_free(void)
{
    __atomic_fetch_add(&watch_missed.frees, 1, __ATOMIC_RELAXED);
}

#endif
