/*
 * switch_intervals.h: the times at which a thread was on no processor, from the records of its
 * switches.
 *
 * Each processor has its own ring, and the rings are read one after the other. If a thread leaves
 * one processor and comes to another, the two records may be read in the wrong order. Here they are
 * ordered by their times. If records were lost, a thread comes without having left, or leaves
 * twice: then the time between is not reported.
 *
 * Pure: no clock, no system call. Not thread-safe.
 */
#ifndef FLAME_TRACER_NOSTOP_SWITCH_INTERVALS_H
#define FLAME_TRACER_NOSTOP_SWITCH_INTERVALS_H

#include <stdbool.h>
#include <stdint.h>

/* A time away from processors. */
struct switch_interval_over {
    uint64_t from, to; /* CLOCK_MONOTONIC, ns */
    bool wants;        /* runnable all the time: no sleep */
};

/* All zero: nothing is known yet. */
struct switch_interval {
    bool away;     /* it is on no processor */
    bool wants;    /* away: runnable */
    bool unpaired; /* it came at `came`, and the record of its leaving has not been read */
    bool twice;    /* it left twice, and the record of its coming between has not been read */
    struct switch_interval_over earlier; /* twice: the first time away, without its end */
    uint64_t left;                       /* when it last left */
    uint64_t came;                       /* when it last came; 0: unknown */
    uint64_t ran_ns;  /* time on processors, of all stays there that have ended */
    uint64_t wait_ns; /* time away in which it was runnable */
};

/* The thread left at `time` (`wants`: still runnable), or came. True, with *over: a time away has
 * ended that was not reported before. */
bool switch_interval_leaves(struct switch_interval *n, uint64_t time, bool wants,
                            struct switch_interval_over *over);
bool switch_interval_comes(struct switch_interval *n, uint64_t time,
                           struct switch_interval_over *over);

/* The thread is found away, or on a processor, at `time`; the beginning of that state is unknown.
 */
void switch_interval_found(struct switch_interval *n, uint64_t time, bool away);

#endif
