/*
 * clock.h: a clock in nanoseconds. Lock-free (the vDSO's), so usable in hooks and
 * signal handlers.
 */
#ifndef FLAME_PRELOAD_CLOCK_H
#define FLAME_PRELOAD_CLOCK_H

#include <time.h>

#include "common/compiler.h"

static inline uint64_t clock_ns(clockid_t clock)
{
    struct timespec ts;

    clock_gettime(clock, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#endif
