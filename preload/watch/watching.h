/*
 * watching.h: what is noted of blocks only where somebody has asked for it. The hot path asks
 * one word, which is 0 in all other programs.
 */
#ifndef FLAME_PRELOAD_WATCH_WATCHING_H
#define FLAME_PRELOAD_WATCH_WATCHING_H

#include "common/compiler.h"

enum watch {
    WATCH_REGIONS = 1u << 0, /* regions are open (regions.h) */
};

extern uint32_t watch_what; /* bits of enum watch; any thread reads it */

static inline uint32_t watch_is_on(void)
{
    return __atomic_load_n(&watch_what, __ATOMIC_RELAXED);
}

#endif
