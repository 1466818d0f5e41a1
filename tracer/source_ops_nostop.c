/*
 * The recorder's questions about threads that are never stopped: samples of their sleeps answer
 * them.
 */
#include "tracer/source_ops.h"

#include "tracer/objects/proctask.h"
#include "tracer/trace_nodes.h"

static uint32_t stack(struct recorder *r, struct tracee *t)
{
    (void)r;
    return t->sample.is ? t->sample.stack : 0;
}

static bool sched(struct recorder *r, struct tracee *t, struct off_sched *out)
{
    return nostop_sched(r->samples, t->tid, out);
}

static bool faults(struct recorder *r, struct tracee *t, uint64_t *n)
{
    (void)r;
    return task_faults(t->tid, n);
}

const struct source_ops source_ops_nostop = {
    .stack = stack, .sched = sched, .sched_now = sched, .faults = faults, .late = true};
