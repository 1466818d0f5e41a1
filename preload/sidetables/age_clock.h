/*
 * age_clock.h: clocks by which lifetimes are measured.
 *
 * Time: the processor's counter, if the kernel's own clock uses it, because reading the counter
 * takes a third of the time of reading CLOCK_MONOTONIC. Otherwise CLOCK_MONOTONIC. The length of a
 * tick in nanoseconds is measured against CLOCK_MONOTONIC from the recording's beginning on, and
 * again whenever twice the time has passed. So no length is off by more than twice the time between
 * two readings of the clocks (100 ns or so), however long it is.
 *
 * Bytes that the process has allocated: exact with one thread. With several, each adds up its own
 * and passes them on when they are AGE_CLOCK_STEP: a length lacks less than that for each other
 * thread.
 *
 * Any thread; one clock for each process. No malloc, no locks, no system call after the beginning
 * (but for CLOCK_MONOTONIC, where the vDSO does not have it).
 */
#ifndef FLAME_PRELOAD_SIDETABLES_AGE_CLOCK_H
#define FLAME_PRELOAD_SIDETABLES_AGE_CLOCK_H

#include <stdbool.h>

#include "common/clock.h"
#include "common/processor/processor.h"

#define AGE_CLOCK_STEP 4096u

extern struct age_clock {
    bool bytes;        /* the clock counts bytes, not time */
    bool counter;      /* ticks are the processor's, not CLOCK_MONOTONIC's */
    uint64_t begun;    /* ticks when recording began */
    uint64_t begun_ns; /* nanoseconds when recording began */
    uint64_t measured; /* ticks when the length of a tick was last measured */
    uint64_t tick;     /* length of a tick, in nanoseconds << 32 */
    uint64_t passed;   /* bytes that threads have passed on */
} lifeclock;

void age_clock_begin(bool bytes);

/* Measures the length of a tick again, at `now`. */
void age_clock_measure(uint64_t now);

static inline uint64_t age_clock_ticks(void)
{
#ifdef PROCESSOR_CLOCKSOURCE
    if (likely(lifeclock.counter))
        return processor_ticks();
#endif
    return clock_ns(CLOCK_MONOTONIC);
}

/* Advances the clock of bytes by an allocation of `bytes`; *own: the calling thread's part that
 * it has not passed on. */
static inline void age_clock_advance(uint64_t *own, uint64_t bytes)
{
    *own += bytes;
    if (*own < AGE_CLOCK_STEP)
        return;
    __atomic_fetch_add(&lifeclock.passed, *own, __ATOMIC_RELAXED);
    *own = 0;
}

/* The present moment, never 0. Only differences have a meaning. */
static inline uint64_t age_clock_now(uint64_t own)
{
    if (lifeclock.bytes)
        return __atomic_load_n(&lifeclock.passed, __ATOMIC_RELAXED) + own + 1;
    return age_clock_ticks() | 1;
}

/* Length from `then` to `now`, in nanoseconds or in bytes; 0 if it is negative, as it may be
 * between threads. */
static inline uint64_t age_clock_since(uint64_t then, uint64_t now)
{
    uint64_t length = (int64_t)(now - then) > 0 ? now - then : 0;

    if (lifeclock.bytes || !lifeclock.counter)
        return length;
    if (unlikely(now - lifeclock.begun >
                 2 * (__atomic_load_n(&lifeclock.measured, __ATOMIC_RELAXED) - lifeclock.begun)))
        age_clock_measure(now);
    return (uint64_t)((unsigned __int128)length *
                          __atomic_load_n(&lifeclock.tick, __ATOMIC_RELAXED) >>
                      32);
}

#endif
