/*
 * critical.h: the view critical of traces of waiting: each row's part of the critical path
 * (fold/analysis/critpath.h), and the possible gain of each thing that threads wait for.
 *
 * The view's value of a row is its time on the path; all rows together are as long as the path,
 * without the time that belongs to no row. Comments (flame-folded(5)) have the parts of the
 * path, and for each thing the most by which the path could be shorter if no thread had to wait
 * for it.
 *
 *  lifecycle  critical_new, then fold with critical_value, critical_write, critical_free
 *  ownership  traces and lines are borrowed
 *  threads    not thread-safe, like all of fold: critical_value uses the object made last
 */
#ifndef FLAME_FOLD_CRITICAL_H
#define FLAME_FOLD_CRITICAL_H

#include "fold/aggregate.h"
#include "fold/symbolize.h"
#include "fold/moments.h"
#include "fold/viewtable.h"
#include "fold/analysis/threadlines.h"

struct critical;

/* Whether the trace has the records that the view needs. */
bool critical_has(const struct trace *t);

/*
 * Finds the path of the trace of each of `lines`, within the range of `when` (NULL: all of it).
 * Returns NULL after a line on standard error, if nothing was recorded in that range, or there is
 * no such thread. Unless `must` is set, the path of a range in which nothing was recorded is empty.
 */
struct critical *critical_new(struct threadlines *const *lines, struct symbolizer *const *frames,
                              size_t n, const struct fold_when *when, bool must);
void critical_free(struct critical *c); /* NULL is allowed */

/* The view's value of a row, in nanoseconds. */
int64_t critical_value(const struct trace *t, const struct trace_row *r);

/* A time during which the path was in that thread of the trace (an id): CLOCK_MONOTONIC in
 * nanoseconds. */
struct critical_piece {
    uint32_t thread;
    uint64_t begin_ns, end_ns;
};

/*
 * The pieces of the trace's path, the latest first; 0: no path was searched. If there were too
 * many, those shorter than *short_ns are left out (0: none are). Borrowed until critical_free.
 */
size_t critical_pieces(const struct trace *t, const struct critical_piece **pieces,
                       uint64_t *short_ns);

/* The frame that names the thing a row of sleeps waited for: that of its call. */
uint32_t critical_frame(const struct trace *t, struct symbolizer *frames, uint32_t row);

/* The comments, a line each. */
void critical_write(const struct critical *c, aggregate_sink sink, void *opaque);

#endif
