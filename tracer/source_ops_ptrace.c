/*
 * The recorder's questions about threads at stops of ptrace.
 *
 * A thread that was attached to in a call which must not be interrupted is not stopped. Its stack
 * is read while it sleeps, because the machine asks for it only when the thread has left that call.
 */
#include "tracer/source_ops.h"

#include "tracer/objects/proctask.h"
#include "tracer/trace_nodes.h"

static uint32_t stack(struct recorder *r, struct tracee *t)
{
    if (t->asleep)
        return t->asleep_stack;
    return recorder_node_waking_call(r, t, recorder_node_stopped(r, t));
}

static bool sched(struct recorder *r, struct tracee *t, struct off_sched *out)
{
    (void)r;
    return tracee_sched(t, out);
}

static bool faults(struct recorder *r, struct tracee *t, uint64_t *n)
{
    (void)r;
    return task_faults(t->tid, n);
}

static void resume(struct recorder *r, struct tracee *t)
{
    source_resume(r->stops, t->tid);
}

/* Number of attempts to read a stack whose thread runs meanwhile. */
#define ASLEEP_TRIES 3

/* Stack of a thread that sleeps and is not stopped; 0: the thread ran during each reading. */
static uint32_t stack_asleep(struct recorder *r, struct tracee *t)
{
    struct off_sched before = {0, 0, 0}, after = {0, 0, 0};

    for (int i = 0; i < ASLEEP_TRIES; i++) {
        bool known = task_sched(t->tid, &before);
        uint32_t node = recorder_node_stopped(r, t);

        if (!known || !task_sched(t->tid, &after) || before.turns == after.turns)
            return node;
    }
    return 0;
}

static void found_asleep(struct recorder *r, struct tracee *t)
{
    t->asleep = source_asleep(r->stops, t->tid);
    if (t->asleep)
        t->asleep_stack = stack_asleep(r, t);
}

const struct source_ops source_ops_ptrace = {.stack = stack,
                                             .sched = sched,
                                             .sched_now = sched,
                                             .faults = faults,
                                             .resume = resume,
                                             .found_asleep = found_asleep};
