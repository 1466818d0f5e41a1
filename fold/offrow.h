/*
 * offrow.h: a row of a trace of waiting, and the stacks its node stands for.
 */
#ifndef FLAME_FOLD_OFFROW_H
#define FLAME_FOLD_OFFROW_H

#include "common/trace_reader.h"

/* Rows of both recorders have one size; which they are the trace's header says. */
static inline const struct trace_off_row *off_row(const struct trace_row *r)
{
    return (const struct trace_off_row *)r;
}

/* The sleeper's stack below the links of its wakers. *waker: the stack of the first of
 * them, 0 when nobody is known to have woken it. */
static inline uint32_t off_sleeper(const struct trace *t, uint32_t node, uint32_t *waker)
{
    *waker = 0;
    for (; t->nodes[node].kind == TRACE_NODE_WAKER; node = t->nodes[node].parent)
        *waker = (uint32_t)t->nodes[node].addr;
    return node;
}

#endif
