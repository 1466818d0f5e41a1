/*
 * clock.h: readings of the kernel's clocks, in nanoseconds. All of flame reads clocks here; lengths
 * of time and moments in traces are CLOCK_MONOTONIC's.
 *
 * The reader is the kernel's own: code that it maps into each process (the vDSO), or a system call
 * where there is none. The C library's clock_gettime is not called, because another library or the
 * program may define a function of that name that shows a time of its own (libfaketime).
 *
 * It takes no lock and makes no system call where the vDSO has the clock, so hooks and signal
 * handlers may call it. In a recorded program whose sandbox forbids clock_gettime it returns 0,
 * because the vDSO falls back to the call on some machines.
 */
#ifndef FLAME_COMMON_CLOCK_H
#define FLAME_COMMON_CLOCK_H

#include <sys/syscall.h>
#include <time.h>

#include "common/compiler.h"
#include "common/kernel.h"

/* As clock_gettime(2), but -errno on failure. */
typedef int clock_reader(clockid_t clock, struct timespec *ts);

/* Clock reader in use; NULL: not searched for yet. */
extern clock_reader *clock_kernel __attribute__((visibility("hidden")));

/* Finds the clock reader. Never NULL; thread- and signal-safe. */
clock_reader *clock_find(void) __attribute__((visibility("hidden")));

static inline uint64_t clock_ns(clockid_t clock)
{
    clock_reader *reader = __atomic_load_n(&clock_kernel, __ATOMIC_RELAXED);
    struct timespec ts;

    if (unlikely(kernel_gatekeeper != NULL) && !kernel_allows(SYS_clock_gettime, (long)clock, &ts))
        return 0;
    if (unlikely(!reader))
        reader = clock_find();
    if (unlikely(reader(clock, &ts) != 0))
        return 0;
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#endif
