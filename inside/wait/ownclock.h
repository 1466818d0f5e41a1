/*
 * ownclock.h: the clock of the library of waits, which is CLOCK_MONOTONIC's, by the call where it
 * has to be.
 *
 * The C library's clock_gettime reads the processor's counter. A thread may have asked for a
 * SIGSEGV whenever it does (prctl's PR_TSC_SIGSEGV, as record-and-replay tools do, and confinement
 * to read, write and exit): the kernel would have that signal come for a look at the clock that the
 * program knows nothing of. The threads and processes that it makes inherit that, and so do
 * programs that it executes. From the first such prctl on, the whole process asks the kernel.
 */
#ifndef FLAME_INSIDE_WAIT_OWNCLOCK_H
#define FLAME_INSIDE_WAIT_OWNCLOCK_H

#include <stdbool.h>

#include "common/clock.h"

/* True: some thread of this process, or of those it was forked from, may not read the counter. */
extern bool ownclock_by_call;

/* Whether the program that begins has inherited that. For the start. */
void ownclock_begin(void);

/* Now, in ns; 0: a sandbox forbids to ask, and no call is made. Thread- and signal-safe. */
static inline uint64_t ownclock_now(void)
{
    struct timespec ts;

    if (likely(!ownclock_by_call))
        return clock_ns(CLOCK_MONOTONIC);
    if (kernel_call(SYS_clock_gettime, CLOCK_MONOTONIC, &ts) != 0)
        return 0;
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#endif
