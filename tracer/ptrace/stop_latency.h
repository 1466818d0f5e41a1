/*
 * stop_latency.h: since when a thread stands that the tracer has just found standing.
 *
 * The kernel says that a thread stands, not since when. The tracer may have been busy with
 * another thread, or have waited for a CPU itself when it was woken; on a loaded machine that
 * is most of what a stop takes. So the time is estimated between two moments that are known:
 * when nobody stood, and now.
 *
 *   - If the tracer was asleep, the stop is what woke it: the thread stands for as long as the
 *     tracer then waited for a CPU, which the scheduler says (/proc/thread-self/schedstat).
 *   - If it was busy, the stop came at any time since nobody stood: half of that is taken, and
 *     the other half is told as what may have to be added.
 *
 * What is left is the few microseconds that waking the tracer takes on an idle machine. The
 * state machine, which knows what the thread did meanwhile, finds those (offcpu.h).
 *
 * A reading takes 0.9 us, which is a tenth of a stop. So it is made only after waits that were
 * long enough to matter, shorter ones mattering while the machine is loaded, and then also when
 * so much has happened since the last one that it no longer says what this wait began with.
 *
 * Not thread-safe. Times are ns of CLOCK_MONOTONIC.
 */
#ifndef FLAME_TRACER_PTRACE_STOP_LATENCY_H
#define FLAME_TRACER_PTRACE_STOP_LATENCY_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/compiler.h"

struct stop_latency {
    int schedstat;    /* our own, open; -1: not asked yet or not to be had */
    uint64_t nobody;  /* when nobody stood last */
    uint64_t woken;   /* when the last wait ended */
    uint64_t delayed; /* how long we have waited for a CPU, at the last reading */
    unsigned waits;   /* since then */
    uint64_t beat;    /* when it was last asked whether the machine is loaded */
    uint64_t beat_delayed;
    bool loaded;
};

void stop_latency_init(struct stop_latency *n);

/* Nobody stands at `now`. */
void stop_latency_nobody(struct stop_latency *n, uint64_t now);

/* The tracer goes to wait until somebody stands. */
void stop_latency_waits(struct stop_latency *n, uint64_t now);
/* A thread was found standing at `now`; returns since when it stands. stop_latency_woken is for the
 * one that ended the tracer's sleep, stop_latency_found for one that ended a wait without sleep,
 * and for all others that are found then; those may stand since *earliest. */
uint64_t stop_latency_woken(struct stop_latency *n, uint64_t now);
uint64_t stop_latency_found(struct stop_latency *n, uint64_t now, uint64_t *earliest);

#endif
