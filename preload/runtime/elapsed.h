/*
 * elapsed.h: elapsed time, where there may be no clock.
 *
 * A sandbox may forbid the call that reads the clock, at any moment; then the clock shows 0
 * (common/clock.h). Any thread; safe in signal handlers.
 */
#ifndef FLAME_PRELOAD_RUNTIME_ELAPSED_H
#define FLAME_PRELOAD_RUNTIME_ELAPSED_H

#include "common/clock.h"

/* Nanoseconds from `begun` to `now`. 0: not known, because one of them is 0, or the clock was put
 * back. */
static inline uint64_t elapsed_ns(uint64_t begun, uint64_t now)
{
    return begun && now > begun ? now - begun : 0;
}

#endif
