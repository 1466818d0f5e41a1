/*
 * trace_intervals.h: the times at which threads waited, one wait after another
 * (TRACE_META_INTERVALS).
 *
 * Rows of a trace of waiting say how long threads waited in all; intervals say when. Each belongs
 * to one row, and all intervals of a row add up to its counters. Where they would take too much
 * room, short intervals of one row that lie close together are merged into one, which stores their
 * number. So sums remain exact, and long waits have exact times.
 *
 * Times are CLOCK_MONOTONIC in nanoseconds. Not thread-safe for one object.
 */
#ifndef FLAME_COMMON_TRACE_TRACE_INTERVALS_H
#define FLAME_COMMON_TRACE_TRACE_INTERVALS_H

#include "common/trace/trace.h"

struct trace_interval {
    uint64_t begin_ns, end_ns; /* begin <= end */
    uint64_t ns;               /* blocked time in it, or, in a TRACE_OFF_ONCPU row, time on a CPU */
    uint64_t runq_ns;          /* run-queue wait; in a wait this is the last part */
    uint64_t longest_ns;       /* longest of the waits; for a single one its ns */
    uint64_t times;            /* number of waits, or pieces, in it */
    uint32_t row;
    uint32_t kind; /* enum trace_interval_kind */
};

/* Upper limit of the bytes of an interval in a file. */
#define TRACE_INTERVAL_BYTES 80

/* Writes an interval to `at`; returns the place behind it. *before is the end of the interval
 * before it in the record (for the first: base_ns), and becomes this one's. */
uint8_t *trace_interval_put(uint8_t *at, const struct trace_interval *i, uint64_t *before);

/* Reads the next interval at *at. False: no valid one ends before `end`. */
bool trace_interval_take(const uint8_t **at, const uint8_t *end, struct trace_interval *out,
                         uint64_t *before);

/*
 * The time between the sleeps of each thread that are known one by one. A share of the time
 * (TRACE_INTERVAL_SHARE) was not spent asleep: it was time on a CPU, a wait for a page, a stop. So
 * in parts of the time it counts by how much of the gaps is in them, and evenly where there is no
 * gap.
 */
struct trace_gaps;

/* The gaps of a trace, all of whose intervals are read. Memory: 24 bytes a sleep. */
struct trace_gaps *trace_gaps_new(const struct trace *t);
void trace_gaps_free(struct trace_gaps *g); /* NULL is allowed */

/* Time from begin_ns to end_ns in which the thread did not sleep. */
uint64_t trace_gaps_between(const struct trace_gaps *g, uint32_t thread, uint64_t begin_ns,
                            uint64_t end_ns);

/* Reader of the intervals of a trace, record after record; within a record they are mostly in order
 * of their ends. In a copy of a growing file some rows may be missing: their intervals are
 * skipped. */
struct trace_intervals_reader {
    const struct trace *t;
    size_t next; /* record */
    const uint8_t *at, *end;
    uint64_t before;
    const struct trace_clip *clip; /* by thread; NULL: all intervals count */
    struct trace_interval cut;     /* has_cut: an interval with parts of `clip` left */
    size_t part;                   /* has_cut: index of its next part in the list of its thread */
    bool has_cut;
};

void trace_intervals_begin(struct trace_intervals_reader *r, const struct trace *t);
/*
 * Like trace_intervals_begin, for only the parts of the time that `clip` has for each thread (by
 * thread, below thread_limit; borrowed; NULL: all). `clip` may be t->clip. Shares count by t->gaps.
 * An interval in several parts comes as several intervals. The last has its kind, and the earlier
 * ones of a wait are TRACE_INTERVAL_PART.
 */
void trace_intervals_begin_clipped(struct trace_intervals_reader *r, const struct trace *t,
                                   const struct trace_clip *clip);
/* False: there are no more. */
bool trace_intervals_next(struct trace_intervals_reader *r, struct trace_interval *out);

/*
 * Merges intervals that are of one row, shorter than short_ns, and end within the same window_ns
 * (counted from 0). Returns how many are left; they are in order of their ends. Intervals that are
 * not a whole wait (TRACE_INTERVAL_SHARE) are not merged with waits.
 */
size_t trace_intervals_merge(struct trace_interval *list, size_t n, uint64_t short_ns,
                             uint64_t window_ns);

/* The window for a limit: a merged interval is no longer than the window and one wait. */
static inline uint64_t trace_intervals_window(uint64_t short_ns)
{
    return short_ns > UINT64_MAX / 64 ? UINT64_MAX : short_ns * 64;
}

#endif
