/*
 * holders.c: waits that end because a process closes its descriptors: those of readers without a
 * writer, and those for the process's locks.
 *
 * A process may end while another waits for an object that both have open, and may be the last that
 * has it open. The result of the wait shows whether it was: the end of the file, or the lock. So
 * such an end is recorded beside the wakes by calls, and it counts for such results alone. The
 * latest end is the right one, as all other processes that had the object open ended before.
 *
 * Rejected: looking up at the end of the wait which process had the object open, because that
 * process has ended by then. Rejected: counting the processes that have it open, because that needs
 * the descriptors of every process.
 */
#include <stdlib.h>

#include "tracer/offcpu/wake_call.h"

/* Whether a thread outside of the process waits for an object that the process may have open. */
static bool anybody_waits(const struct offcpu *o, pid_t pid)
{
    for (const struct sleeper *t = o->waiting[WAIT_FD].head; t; t = t->next)
        if (t->pid != pid && t->queue &&
            (t->s.object.kind == OFF_ON_PIPE || t->s.object.kind == OFF_ON_UNIX ||
             t->s.object.kind == OFF_ON_INET || t->s.object.kind == OFF_ON_LOCK))
            return true;
    for (const struct sleeper *t = o->waiting[WAIT_SET].head; t; t = t->next)
        for (size_t i = 0; t->pid != pid && i < t->nset; i++)
            if (t->set[i].kind == OFF_ON_PIPE || t->set[i].kind == OFF_ON_UNIX ||
                t->set[i].kind == OFF_ON_INET)
                return true;
    return false;
}

static bool is_other_end(unsigned held, unsigned waited)
{
    return !held || !waited || held != waited;
}

static void may_end(struct wake_call *g, struct sleeper *t)
{
    struct wake *w;

    if (t->pid == g->waker->pid)
        return;
    w = wake_call_wake(g);
    if (t->closer == w)
        return;
    wake_unref(t->closer);
    t->closer = wake_ref(w);
}

static void close_one(struct wake_call *g, const struct off_object *object)
{
    struct queue *q = queue_find(g->o, object);

    for (struct sleeper *t = q ? q->head : NULL; t; t = t->qnext)
        if (is_other_end(object->side, t->s.object.side))
            may_end(g, t);
    for (struct sleeper *t = g->o->waiting[WAIT_SET].head; t; t = t->next) {
        const struct off_object *m =
            t->nset ? bsearch(object, t->set, t->nset, sizeof *t->set, off_order) : NULL;

        if (!m)
            continue;
        while (m > t->set && off_same(m - 1, object)) /* both ends may be in the set */
            m--;
        for (; m < t->set + t->nset && off_same(m, object); m++)
            if (is_other_end(object->side, m->side))
                may_end(g, t);
    }
}

void holders_close(struct wake_call *g, bool by_exec)
{
    struct offcpu *o = g->o;
    struct off_set held = {NULL, 0};

    if (!o->world.held || (!o->waiting[WAIT_FD].n && !o->waiting[WAIT_SET].n))
        return;
    waiting_resolve_all(o, WAIT_FD);
    waiting_resolve_all(o, WAIT_SET);
    if (!anybody_waits(o, g->waker->pid))
        return;
    o->world.held(o->world.arg, g->waker->tid, by_exec, &held);
    for (size_t i = 0; i < held.n; i++)
        close_one(g, &held.members[i]);
}

struct wake *holders_end(struct sleeper *t, struct wake *by, bool hung_up)
{
    uint64_t up = t->s.end - (t->s.runq_ns < t->s.end ? t->s.runq_ns : t->s.end);
    bool ready = t->s.result > 0 && t->wait == WAIT_SET,
         locked = t->s.result >= 0 && t->s.object.kind == OFF_ON_LOCK;

    if (!t->closer || !(hung_up || ready || locked) || t->closer->time > up)
        return by;
    if (by && by->time >= t->closer->time && !(hung_up && !by->hangup))
        return by;
    wake_unref(by);
    return wake_ref(t->closer);
}
