/*
 * clock.h: what a clock shows, in nanoseconds. All of flame asks here; lengths of time and
 * moments in traces are CLOCK_MONOTONIC's.
 *
 * It takes no lock and makes no system call where the vDSO has the clock, so hooks and signal
 * handlers may call it. In a recorded program whose sandbox forbids clock_gettime it returns
 * 0, because the vDSO falls back to the call on some machines.
 */
#ifndef FLAME_COMMON_CLOCK_H
#define FLAME_COMMON_CLOCK_H

#include <sys/syscall.h>
#include <time.h>

#include "common/compiler.h"
#include "common/kernel.h"

static inline uint64_t clock_ns(clockid_t clock)
{
    struct timespec ts;

    if (unlikely(kernel_gatekeeper != NULL) && !kernel_allows(SYS_clock_gettime, (long)clock, &ts))
        return 0;
    clock_gettime(clock, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#endif
