/*
 * features.h: mask of optional per-block features; 0 by default, so the hot path tests one word,
 * once an event.
 */
#ifndef FLAME_PRELOAD_SIDETABLES_FEATURES_H
#define FLAME_PRELOAD_SIDETABLES_FEATURES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"

enum feature {
    FEATURE_REGIONS = 1u << 0, /* regions are open (regions.h) */
    FEATURE_SAMPLES = 1u << 1, /* blocks are sampled (sampler.h) */
    FEATURE_MISUSE = 1u << 2,  /* frees are checked (alloc_family.h, recent_frees.h) */
    FEATURE_PAUSES = 1u << 3,  /* a thread does not count its allocations (pausedblocks.h) */
    FEATURE_POOLS = 1u << 5,   /* blocks have parts that pools hand out (pools.h) */
    FEATURE_REMEMBER_PAUSED = 1u << 4, /* blocks allocated in pauses are remembered */
    FEATURE_LIFETIMES = 1u << 6, /* lifetimes of blocks are recorded (age_clock.h, birthmap.h) */
    FEATURE_FAULTS = 1u << 7,    /* page faults are counted for the owners of the memory */
};

extern uint32_t features_on; /* bits of enum feature; any thread reads it */

/* Acquires: what a feature needs is made before its bit is set. */
static inline uint32_t any_feature_on(void)
{
    return __atomic_load_n(&features_on, __ATOMIC_ACQUIRE);
}

static inline bool feature_on(enum feature what)
{
    return unlikely(any_feature_on() & what);
}

/*
 * Numbers of blocks that the program allocated and freed without a record: calls from within hooks,
 * and blocks for which there was no room. Counted in every program, because it happens rarely.
 */
extern struct features_missed {
    uint32_t allocs, frees;
} features_missed;

static inline void features_miss_alloc(void)
{
    __atomic_fetch_add(&features_missed.allocs, 1, __ATOMIC_RELAXED);
}

static inline void features_miss_free(void)
{
    __atomic_fetch_add(&features_missed.frees, 1, __ATOMIC_RELAXED);
}

#endif
