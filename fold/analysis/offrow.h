/* offrow.h: a row of an off-CPU trace, and the stacks that its node represents. */
#ifndef FLAME_FOLD_ANALYSIS_OFFROW_H
#define FLAME_FOLD_ANALYSIS_OFFROW_H

#include "common/trace/trace_reader.h"

/* Rows of both recorders have one size; the trace's header says which recorder's they are. */
static inline const struct trace_off_row *off_row(const struct trace_row *r)
{
    return (const struct trace_off_row *)r;
}

/* Whether the row is of sleeps, which have something the program waited for. */
static inline bool off_row_waits(const struct trace_row *r)
{
    return off_row(r)->kind < TRACE_OFF_ONCPU;
}

/* Whether the row is off-CPU time without a known call: waits for pages, time outside of the
 * traced calls, and sleeps that a tracer without stops did not sample. */
static inline bool off_row_outside(const struct trace_row *r)
{
    return off_row(r)->kind == TRACE_OFF_FAULT || off_row(r)->kind == TRACE_OFF_OUTSIDE ||
           off_row(r)->kind == TRACE_OFF_TOO_SHORT || off_row(r)->kind == TRACE_OFF_NOT_SAMPLED;
}

/* The node of the sleeper's stack, below the links of its wakers. *waker becomes the node of the
 * first waker's stack; 0: no waker is known. */
static inline uint32_t off_sleeper(const struct trace *t, uint32_t node, uint32_t *waker)
{
    *waker = 0;
    for (; t->nodes[node].kind == TRACE_NODE_WAKER; node = t->nodes[node].parent)
        *waker = (uint32_t)t->nodes[node].addr;
    return node;
}

#endif
