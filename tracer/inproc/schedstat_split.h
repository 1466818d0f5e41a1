/*
 * schedstat_split.h: the scheduler's figures of a thread that notes its own calls.
 *
 * Its events are told some milliseconds late, and the kernel's figures (off_sched) are those of the
 * moment at which they are read. So they are read at most once for all that is told at a time, and
 * what came to them since the reading before is given to the events one after the other: to what
 * lies between calls, and to calls in which it stayed on its CPU, time on a CPU and, for the rest,
 * the wait for one; to calls in which it slept, of that wait a share by how long they took, and of
 * the CPU what the calls before the last reading took in the middle, each the same part. What is
 * given is never more than was read, and what is left goes with the next reading: over the time of
 * several readings the sums are exact, for a single sleep the wait for a CPU is a share.
 *
 * Plain arithmetic; not thread-safe.
 */
#ifndef FLAME_TRACER_INPROC_SCHEDSTAT_SPLIT_H
#define FLAME_TRACER_INPROC_SCHEDSTAT_SPLIT_H

#include "tracer/offcpu/event.h"

struct schedstat_split {
    struct off_sched given; /* up to the last event */
    struct off_sched read;  /* by the last reading */
    uint64_t at;            /* when that was */
    uint64_t before;        /* when the one before was */
    uint64_t upto;          /* time of the last event */
    uint64_t sleeps;        /* calls in which it slept, since the last reading */
    uint64_t debt_ns;       /* on a CPU in such calls, before that, and not given yet */
    uint64_t each_ns;       /* of that, what a call is to have */
    bool known;             /* there was a reading */
};

/* A reading, at `now`. */
void schedstat_split_read(struct schedstat_split *f, uint64_t now, const struct off_sched *read);

/*
 * How often the thread was put on a CPU, as a reading has it, where a call that it noted is told to
 * end by something else than its record: its process ends, or the trace does. One turn since the
 * call began would say that the thread never slept, as it does of a thread that stood there; of one
 * that did not stand it says that it slept once. (And what was given is often more than was read.)
 */
uint64_t schedstat_split_turns(const struct schedstat_split *f, uint64_t read);

/* All is known as it was read: at a stop of the thread. */
void schedstat_split_settle(struct schedstat_split *f, uint64_t now, const struct off_sched *read);

/* An event at `time`. What lies between it and the one before: did the thread sleep then? */
void schedstat_split_event(struct schedstat_split *f, uint64_t time, bool slept);

#endif
