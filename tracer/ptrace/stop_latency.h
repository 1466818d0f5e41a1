/*
 * stop_latency.h: the time at which a thread stopped that the tracer has just found stopped.
 *
 * The kernel reports that a thread is stopped, not since when. The tracer may have been busy with
 * another thread, or have waited for a CPU itself when it was woken. On a loaded machine that is
 * most of a stop's time. So the time is estimated between two known moments: the last time at which
 * no thread was stopped, and now.
 *
 *   - If the tracer was asleep, the stop woke it. So the thread has been stopped for as long as the
 *     tracer then waited for a CPU, which the scheduler reports (/proc/thread-self/schedstat).
 *   - If a signal came in that sleep as well (the tracer's own tick), either may have woken it. So
 *     the stop came at any time in which the tracer waited for a CPU.
 *   - If the tracer was busy, the stop came at any time since no thread was stopped.
 *   - Where a stop came at any time of a stretch, half of that is taken, and the other half is
 *     reported as a possible addition.
 *
 * The few microseconds that waking the tracer takes on an idle machine are not included. The state
 * machine, which knows the thread's calls meanwhile, finds those (offcpu.h).
 *
 * A reading takes 0.9 us, which is a tenth of a stop. So it is made only after waits that were long
 * enough to matter; shorter ones matter while the machine is loaded. It is also made before a wait
 * when the last one is so old that the tracer may have been without a CPU since then, as it is no
 * longer valid as the beginning of the wait. Without that, a tracer that had lost its CPU after it
 * resumed a thread, or in several short waits, took as much from that thread's next sleep.
 *
 * Not thread-safe. Times are ns of CLOCK_MONOTONIC.
 */
#ifndef FLAME_TRACER_PTRACE_STOP_LATENCY_H
#define FLAME_TRACER_PTRACE_STOP_LATENCY_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/compiler.h"

struct stop_latency {
    int schedstat;    /* our own, open; -1: not opened yet, or it cannot be opened */
    uint64_t nobody;  /* last time at which no thread was stopped */
    uint64_t delayed; /* run-queue wait of this thread at the last reading */
    uint64_t read;    /* time of that reading */
    uint64_t beat;    /* time of the last check whether the machine is loaded */
    uint64_t beat_delayed;
    bool loaded;
};

void stop_latency_init(struct stop_latency *n);

/* No thread is stopped at `now`. */
void stop_latency_none(struct stop_latency *n, uint64_t now);

/* The tracer begins to wait until a thread stops. */
void stop_latency_waits(struct stop_latency *n, uint64_t now);
/* A thread was found stopped at `now`; returns the time of its stop, which may have been as early
 * as *earliest. stop_latency_woken is for the thread that ended the tracer's sleep, which a signal
 * may have done as well; stop_latency_found for one that ended a wait without sleep, and for all
 * others found then. */
uint64_t stop_latency_woken(struct stop_latency *n, uint64_t now, bool by_signal,
                            uint64_t *earliest);
uint64_t stop_latency_found(struct stop_latency *n, uint64_t now, uint64_t *earliest);

#endif
