/*
 * ownclock.h: the clock of the library of waits, CLOCK_MONOTONIC, read by a system call where that
 * is necessary.
 *
 * The kernel's code for it in the process (the vDSO) reads the processor's counter. A thread may
 * have requested a SIGSEGV for each such read (prctl's PR_TSC_SIGSEGV, as record-and-replay tools
 * do, and confinement to read, write and exit). The library's reading of the clock would then send
 * the program a signal that it does not expect. The threads and processes that it makes inherit
 * that, and so do programs that it executes. Or the program unmaps that code, as sandboxes and
 * checkpointers do. From the first such call on, the whole process reads the clock by the system
 * call.
 */
#ifndef FLAME_INPROC_LIB_OWNCLOCK_H
#define FLAME_INPROC_LIB_OWNCLOCK_H

#include <stdbool.h>

#include "common/clock.h"
#include "patch/patcher.h"

/* True: in this process, or one that it was forked from, the vDSO's clock may not be usable in some
 * thread. */
extern bool ownclock_by_call;

/* Detects whether the starting program has inherited that. For the start. */
void ownclock_begin(void);

/* The program is about to make this call of prctl, seccomp, or on mappings: decides whether the
 * clock must be read by the system call from then on. Thread- and signal-safe. */
void ownclock_look(const struct patch_call *call);

/* Now, in ns; 0: a sandbox forbids the call, and it is not made. Thread- and signal-safe. */
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
