/*
 * schedstat_split.h: the scheduler's figures of a thread that logs its own calls.
 *
 * Its events are emitted some milliseconds late, and the kernel's figures (off_sched) are those of
 * the moment at which they are read. So they are read at most once for each batch of events. The
 * increase since the reading before is assigned to the events, one after the other.
 *
 *   - Time between calls, and calls in which the thread stayed on its CPU, get CPU time; the rest
 *     of their length is run-queue wait.
 *   - Calls in which the thread slept get a share of the run-queue wait, by their length. Of the
 *     CPU time they get the mean of such calls before the last reading.
 *
 * No more is assigned than was read, and the remainder is added to the next reading. So over
 * several readings the sums are exact; for a single sleep the run-queue wait is a share.
 *
 * Plain arithmetic; not thread-safe.
 */
#ifndef FLAME_TRACER_INPROC_SCHEDSTAT_SPLIT_H
#define FLAME_TRACER_INPROC_SCHEDSTAT_SPLIT_H

#include "tracer/offcpu/event.h"

struct schedstat_split {
    struct off_sched given; /* assigned up to the last event */
    struct off_sched read;  /* the last reading */
    uint64_t at;            /* time of the last reading */
    uint64_t before;        /* time of the reading before it */
    uint64_t upto;          /* time of the last event */
    uint64_t sleeps;        /* calls in which it slept, since the last reading */
    uint64_t debt_ns;       /* CPU time of such calls before that reading, not assigned yet */
    uint64_t each_ns;       /* part of debt_ns that each such call gets */
    bool known;             /* there was a reading */
};

/* Adds a reading, made at `now`. */
void schedstat_split_read(struct schedstat_split *f, uint64_t now, const struct off_sched *read);

/*
 * Number of times that the thread was put on a CPU, from a reading. For a logged call that ends
 * otherwise than by its record: its process ends, or the trace does. One turn since the call began
 * would mean that the thread never slept, as for a thread that was stopped at the call. A thread
 * that was not stopped has slept once. (And the assigned turns are often more than were read.)
 */
uint64_t schedstat_split_turns(const struct schedstat_split *f, uint64_t read);

/* Takes all figures as read, at a stop of the thread. */
void schedstat_split_settle(struct schedstat_split *f, uint64_t now, const struct off_sched *read);

/* Handles an event at `time`. `slept`: the thread slept between the event before it and this one.
 */
void schedstat_split_event(struct schedstat_split *f, uint64_t time, bool slept);

#endif
