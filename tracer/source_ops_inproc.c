/*
 * The recorder's questions where threads log their calls.
 *
 * The calls that a thread logs are emitted together, a reading at a time (recorder.readings), later
 * than they happened. The scheduler's figures are read once for them and split among them
 * (schedstat_split.h). Other events of the same thread come from stops in between.
 */
#include "tracer/source_ops.h"

#include "tracer/objects/proctask.h"
#include "tracer/trace_nodes.h"

static uint32_t stack_logged(struct recorder *r, struct tracee *t)
{
    uint32_t logged = r->at_hand.logged_stack;
    uint32_t node = logged ? recorder_node_logged(r, t, logged) : recorder_node_stopped(r, t);

    return recorder_node_waking_call(r, t, node);
}

static uint32_t stack_beside(struct recorder *r, struct tracee *t)
{
    uint32_t node = t->noted ? recorder_node_logged(r, t, t->noted) : recorder_node_stopped(r, t);

    return recorder_node_waking_call(r, t, node);
}

static bool sched_logged(struct recorder *r, struct tracee *t, struct off_sched *out)
{
    (void)r;
    *out = t->figures.given;
    return t->figures.known;
}

static bool sched_now(struct recorder *r, struct tracee *t, struct off_sched *out)
{
    (void)r;
    return tracee_sched(t, out);
}

static bool sched_beside(struct recorder *r, struct tracee *t, struct off_sched *out)
{
    if (!sched_now(r, t, out))
        return false;
    if (t->in_call && t->noted)
        out->turns = schedstat_split_turns(&t->figures, out->turns);
    schedstat_split_settle(&t->figures, source_now(), out);
    return true;
}

/* Reads the number of faults. False: it cannot be read. */
static bool read_faults(struct recorder *r, struct tracee *t)
{
    uint64_t now;

    if (!task_faults(t->tid, &now))
        return false;
    t->faulted = now > t->faults;
    t->faults = now;
    t->faults_reading = r->readings;
    return true;
}

/*
 * The number is read at the end of a reading. If it has grown, any of the time between the calls
 * of that reading may have a fault. (Otherwise the first would get all faults, and all others would
 * count as time outside of calls.)
 */
static bool faults_logged(struct recorder *r, struct tracee *t, uint64_t *n)
{
    if (t->faults_reading != r->readings && !read_faults(r, t))
        return false;
    *n = t->faults_emitted += t->faulted;
    return true;
}

static bool faults_beside(struct recorder *r, struct tracee *t, uint64_t *n)
{
    if (!read_faults(r, t))
        return false;
    *n = t->faults_emitted += t->faulted;
    return true;
}

static void resume(struct recorder *r, struct tracee *t)
{
    source_resume(r->stops, t->tid);
}

const struct source_ops source_ops_logged = {
    .stack = stack_logged, .sched = sched_logged, .sched_now = sched_now, .faults = faults_logged};

const struct source_ops source_ops_beside_log = {.stack = stack_beside,
                                                 .sched = sched_beside,
                                                 .sched_now = sched_now,
                                                 .faults = faults_beside,
                                                 .resume = resume};
