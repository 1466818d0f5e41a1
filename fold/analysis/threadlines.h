/*
 * threadlines.h: the waits of each thread of a trace of waiting, and its shares of time, in order.
 *
 * Waits that are known one by one can be searched by time. Shares are what is known of a stretch
 * of time as a sum only: time on CPUs, waits for pages, stops, and short waits for whose times a
 * trace had no room.
 *
 *    lifecycle  threadlines_new, any number of reads, threadlines_free
 *    ownership  the trace is borrowed
 *    memory     40 bytes a wait, 56 bytes a share
 *    threads    none: one object is one thread's
 *    times      CLOCK_MONOTONIC in nanoseconds
 */
#ifndef FLAME_FOLD_ANALYSIS_THREADLINES_H
#define FLAME_FOLD_ANALYSIS_THREADLINES_H

#include "common/trace/trace_intervals.h"

struct thread_wait {
    uint64_t begin, end;
    uint64_t woken; /* from then to `end` it was in the run queue */
    uint32_t row;
    uint32_t waker;     /* the thread that ended it; 0: none is known */
    int32_t awake_ns;   /* of the time from begin to woken not asleep; at the limit: more */
    uint32_t seen : 31; /* the user's, 0 at first */
    uint32_t part : 1;  /* another wait continues it; the waker allowed that one to begin */
};

struct thread_share {
    uint64_t begin, end;
    uint64_t ns;      /* of the time from begin to end */
    uint64_t runq_ns; /* part of ns in the run queue */
    uint64_t last;    /* the latest end of this and earlier shares */
    uint32_t row;
    bool sum; /* of short waits; else a share of the stretch */
};

struct thread_line {
    struct thread_wait *wait; /* by their begins */
    size_t nwaits, waits_room;
    struct thread_share *share; /* by their begins */
    size_t nshares, shares_room;
    uint64_t begin, end; /* end 0: the thread has no known times */
    bool lived;          /* they are those of its life; else of what was recorded of it */
    uint32_t parent;     /* the thread that created it; 0: not known */
    bool shared;         /* a record of several threads */
};

struct threadlines {
    const struct trace *t;
    struct thread_line *line; /* by thread, below t->thread_limit */
    uint64_t from_ns, to_ns;  /* of the recording; from_ns > to_ns: nothing is known */
    bool sums;                /* some waits are known as sums only */
    uint64_t whole_from_ns;   /* waits that ended earlier may be missing; 0: none are */
};

/* Reads all intervals of the trace, also those outside of t->clip. A trace without intervals, or of
 * another recorder, has empty lines. */
struct threadlines *threadlines_new(const struct trace *t);
void threadlines_free(struct threadlines *l); /* NULL is allowed */

/* The line of a thread whose record is its own and whose times are known; else NULL. */
struct thread_line *threadlines_of(const struct threadlines *l, uint32_t thread);

/* The last wait of the thread that began before the moment; NULL: there is none. */
struct thread_wait *thread_line_last_wait(const struct thread_line *l, uint64_t before);

/*
 * Shares out a time in which the thread was not asleep in a wait that is known: begin < end. Shares
 * are spread evenly over their stretch. What `take` gets sums up to the length, or to 0 where
 * nothing is known.
 *
 * `ns` is the share's part, and runq_ns the part of that in the run queue.
 */
typedef void (*thread_share_sink)(void *arg, uint32_t row, uint64_t ns, uint64_t runq_ns);
void thread_line_share_out(const struct thread_line *l, uint64_t begin, uint64_t end,
                           thread_share_sink take, void *arg);

#endif
