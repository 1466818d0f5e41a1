/*
 * sleep_watch.h: memory in which the tracing process notes long sleeps for its caller, and in which
 * the caller asks it to freeze the recording.
 *
 * The two processes share it with no traced process. The tracing process writes `last`, `n` and
 * `frozen_ns`, the caller `freeze`; neither waits for the other. The caller makes the memory,
 * before it begins to trace, and keeps it until the tracing is over.
 */
#ifndef FLAME_TRACER_SLEEP_WATCH_H
#define FLAME_TRACER_SLEEP_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLEEP_WATCH_KEPT 64u

struct watched_sleep {
    uint64_t end_ns; /* CLOCK_MONOTONIC */
    uint64_t ns;     /* blocked, and then runnable until a CPU was free */
    uint32_t node;   /* of the trace: the stack, with the call's frame */
};

struct sleep_watch {
    uint64_t least_ns; /* shorter sleeps are not noted */
    uint64_t n;        /* number of sleeps noted so far */
    struct watched_sleep last[SLEEP_WATCH_KEPT];
    uint32_t freeze;    /* 1: attached processes are to be detached; of a command no more times are
                           to be kept */
    uint64_t frozen_ns; /* when that was done (CLOCK_MONOTONIC); 0: not yet */
};

/* Tracing process: notes a sleep if it is long enough. */
static inline void sleep_watch_note(struct sleep_watch *w, const struct watched_sleep *s)
{
    if (s->ns < w->least_ns)
        return;
    w->last[w->n % SLEEP_WATCH_KEPT] = *s;
    __atomic_store_n(&w->n, w->n + 1, __ATOMIC_RELEASE);
}

/* Tracing process: whether it has been asked to freeze, and has not done so. */
static inline bool sleep_watch_freezes(const struct sleep_watch *w)
{
    return __atomic_load_n(&w->freeze, __ATOMIC_RELAXED) && !w->frozen_ns;
}

/* Caller: copies to `out` the sleeps noted since *seen, which becomes their number. If there were
 * more than SLEEP_WATCH_KEPT, the oldest are missing. Returns how many it copied. */
static inline size_t sleep_watch_take(const struct sleep_watch *w, uint64_t *seen,
                                      struct watched_sleep out[SLEEP_WATCH_KEPT])
{
    uint64_t n = __atomic_load_n(&w->n, __ATOMIC_ACQUIRE);
    size_t got = 0;

    for (uint64_t i = n - *seen > SLEEP_WATCH_KEPT ? n - SLEEP_WATCH_KEPT : *seen; i < n; i++)
        out[got++] = w->last[i % SLEEP_WATCH_KEPT];
    *seen = n;
    return got;
}

#endif
