/*
 * retime.h: a recording of waiting as it would have been if some waits had been shorter.
 *
 * All threads are followed forwards from the beginning of a range. Each of them does what it did,
 * in the same order and for as long: it runs, it waits for time, disks and networks, and it waits
 * for the threads that ended its waits. Only the waits that are asked for take a part of their
 * time. So the end of the range comes as soon as the longest chain of what remains allows, and this
 * is a bound: a run in which all else takes as long, for the same things in the same order, is not
 * shorter. Threads are taken to have a CPU whenever they had one.
 *
 *    lifecycle  retime_new, retime_run any number of times, retime_free
 *    ownership  the walker is borrowed
 *    threads    none: one object is one thread's
 *    times      CLOCK_MONOTONIC in nanoseconds
 */
#ifndef FLAME_FOLD_ANALYSIS_RETIME_H
#define FLAME_FOLD_ANALYSIS_RETIME_H

#include "fold/analysis/critpath.h"

struct retime;

struct retime *retime_new(const struct trace *t, const struct critpath *walker);
void retime_free(struct retime *r); /* NULL: nothing */

struct retime_end {
    uint64_t gain_ns; /* how much sooner the range's end comes; not more than its length */
    /* For retime_last: a thread, and how much sooner than that of the range its end comes. */
    uint32_t last;
    uint64_t last_gain_ns;
};

/*
 * Replays a settled range. `part` has, by row, what remains of a wait of that row: from 0 to 1,
 * or more where the wait is as it was. *steps is reduced by the work that is done. False: it has
 * come to 0, and there is no result.
 */
bool retime_run(struct retime *r, const struct critpath_range *range, const double *part,
                uint64_t *steps, struct retime_end *end);

/* Finds the thread that ends last in that replay, of those that had ended long before the end of
 * the range. False: none of them ends behind the range's end. */
bool retime_last(struct retime *r, struct retime_end *end);

#endif
