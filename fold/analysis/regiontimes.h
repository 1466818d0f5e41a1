/*
 * regiontimes.h: the times of the regions that a program marks (flamemem(3)), and traces of
 * waiting that are reduced to the time in such regions, or to a range of the time.
 *
 * A region of a thread is from push to pop of a tag, or from mark to mark; of those of one name
 * that lie within one another on a thread the outermost counts. The thread's own time in the
 * region counts, and none of other threads. Threads that share a record (trace_off_thread.uses)
 * have no regions here, as it is not known to which one a region belongs.
 */
#ifndef FLAME_FOLD_ANALYSIS_REGIONTIMES_H
#define FLAME_FOLD_ANALYSIS_REGIONTIMES_H

#include "common/trace/trace_reader.h"

struct region_span {
    uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
    uint32_t thread;
    bool cut; /* it did not end by itself */
};

/* The regions of that name, by when they began; free() *out. 0: there are none, *out is NULL. */
size_t regiontimes_get(const struct trace *t, const char *name, struct region_span **out);

/* The times of regions, by thread (trace_intervals.h), for trace_clip_free. `list` is in order
 * of their begins and of one name. */
struct trace_clip *regiontimes_clip(const struct trace *t, const struct region_span *list,
                                    size_t n);

/*
 * Makes the trace what happened in regions of that name: its rows count that, and its intervals are
 * clipped (trace->clip). How long single sleeps took (the view latency) is not known of parts, and
 * is gone. 0, or FLAME_USAGE after a line: there are none, or it is not known when was waited.
 */
int regiontimes_apply(struct trace *t, const char *name);

/*
 * Like regiontimes_apply, for what happened from from_ns to to_ns (CLOCK_MONOTONIC) in any thread.
 * 0, or FLAME_USAGE after a line: it is no trace of waiting, or it is not known when was waited.
 */
int regiontimes_apply_range(struct trace *t, uint64_t from_ns, uint64_t to_ns);

/* Whether the trace has regions of that name. */
bool regiontimes_has(const struct trace *t, const char *name);

#endif
