/*
 * ownclock.h: the clock of the library of waits, which is CLOCK_MONOTONIC's, by the call where it
 * has to be.
 *
 * The kernel's code for it in the process (the vDSO) reads the processor's counter. A thread may
 * have asked for a SIGSEGV whenever it does (prctl's PR_TSC_SIGSEGV, as record-and-replay tools do,
 * and confinement to read, write and exit): the kernel would have that signal come for a look at
 * the clock that the program knows nothing of. The threads and processes that it makes inherit
 * that, and so do programs that it executes. Or the program takes that code from its memory, as
 * sandboxes and checkpointers do. From the first such call on, the whole process asks the kernel.
 */
#ifndef FLAME_INPROC_LIB_OWNCLOCK_H
#define FLAME_INPROC_LIB_OWNCLOCK_H

#include <stdbool.h>

#include "common/clock.h"
#include "patch/patcher.h"

/* True: in this process, or one that it was forked from, the clock may not be there for some
 * thread. */
extern bool ownclock_by_call;

/* Whether the program that begins has inherited that. For the start. */
void ownclock_begin(void);

/* The program is about to make this call of prctl, seccomp, or on mappings: whether the clock is to
 * be read by the call from then on. Thread- and signal-safe. */
void ownclock_look(const struct patch_call *call);

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
