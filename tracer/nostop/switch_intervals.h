/*
 * switch_intervals.h: when a thread was away from a processor, from the records of its leaving and
 * coming.
 *
 * Each processor has a ring of its own, and they are read one after the other: of a thread that
 * leaves one and comes to another, the two may be told the wrong way round. They are brought
 * together here, by their times. Records that were lost leave a thread that comes without having
 * left, or leaves twice: then nothing is said of the time between.
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
    bool wants;        /* it wanted to run all the while: no sleep */
};

/* All zero: nothing is known yet. */
struct switch_interval {
    bool away;     /* it is on no processor, */
    bool wants;    /* and wants to be */
    bool unpaired; /* it came at `came`, and when it had left was not told */
    bool twice;    /* it left twice, and when it had come between was not told: */
    struct switch_interval_over earlier; /* the first time, without its end */
    uint64_t left;                       /* when it left last */
    uint64_t came;                       /* when it came last; 0: not known */
    uint64_t ran_ns;                     /* on processors, all its stays there that have ended */
    uint64_t wait_ns;                    /* away and wanting one */
};

/* The thread left at `time`, wanting to run on or not; or came. True, with *over: a time away has
 * ended, and was not told before. */
bool switch_interval_leaves(struct switch_interval *n, uint64_t time, bool wants,
                            struct switch_interval_over *over);
bool switch_interval_comes(struct switch_interval *n, uint64_t time,
                           struct switch_interval_over *over);

/* It is found away, or on a processor, at `time`, and when that began is not known. */
void switch_interval_found(struct switch_interval *n, uint64_t time, bool away);

#endif
