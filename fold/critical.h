/*
 * critical.h: the view critical of traces of waiting: how much of the critical path
 * (fold/facts/critpath.h) each row of a trace is, and what could be gained where.
 *
 * The view's value of a row is the time on the path that the row stands for; all rows together are
 * as long as the path, but for what no row stands for. What the path went through, and how much
 * shorter it could be at most if nobody had to wait for a thing, is told in comments
 * (flame-folded(5)).
 *
 *   lifecycle  critical_new, then fold with critical_value, critical_write, critical_free
 *   ownership  traces are borrowed
 *   threads    none; one at a time, as all of fold: critical_value goes by the last one made
 */
#ifndef FLAME_FOLD_CRITICAL_H
#define FLAME_FOLD_CRITICAL_H

#include "fold/aggregate.h"
#include "fold/frames.h"
#include "fold/moments.h"
#include "fold/viewtable.h"

struct critical;

/* Whether the trace has what the view needs. */
bool critical_has(const struct trace *t);

/*
 * Finds the path of each trace, within the range of `when` (NULL: all of it). NULL after a line on
 * standard error, if nothing was recorded in that range, or there is no such thread.
 */
struct critical *critical_new(struct trace *const *traces, struct frames *const *frames, size_t n,
                              const struct fold_when *when);
void critical_free(struct critical *c); /* NULL: nothing */

/* The view's value of a row, in nanoseconds. */
int64_t critical_value(const struct trace *t, const struct trace_row *r);

/* When the path was in which thread of the trace (an id): CLOCK_MONOTONIC in nanoseconds. */
struct critical_piece {
    uint32_t thread;
    uint64_t begin_ns, end_ns;
};

/*
 * The pieces of the trace's path, the latest first; 0: no path was looked for. Where there were too
 * many, those shorter than *short_ns are left out (0: none are). Lent until critical_free.
 */
size_t critical_pieces(const struct trace *t, const struct critical_piece **pieces,
                       uint64_t *short_ns);

/* Whether the view is of the critical path. A page makes no other range of time of it by adding
 * rows up. */
static inline bool critical_is(const struct view *view)
{
    return view->value == critical_value;
}

/* The frame of the call that a row of sleeps stands on: what was waited for. */
uint32_t critical_frame(const struct trace *t, struct frames *frames, uint32_t row);

/* The comments, a line each. */
void critical_write(const struct critical *c, aggregate_sink sink, void *opaque);

#endif
