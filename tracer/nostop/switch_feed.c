/*
 * switch_feed.c: finds the threads that have left or reached a processor: by the kernel's records,
 * or, where there are none, by scheduler figures that are read at each tick.
 */
#include "tracer/nostop/nostop_state.h"

static bool is_alike(const struct off_sched *a, const struct off_sched *b)
{
    return a->turns == b->turns && a->cpu_ns == b->cpu_ns && a->runq_ns == b->runq_ns;
}

/* ---- the kernel's records ---- */

static void forked(struct nostop *q, const struct switch_record *r)
{
    if (!nostop_find(q, r->parent_tid) || (r->pid != r->parent_pid && q->opt.no_follow))
        return;
    nostop_add(q, r->tid, r->pid, r->time, r->parent_tid);
}

static void executed(struct nostop *q, const struct switch_record *r)
{
    struct off_event e = {.kind = OFF_EXEC, .time = r->time};
    struct nostop_thread *t, *next;

    if (!nostop_watches(q, r->pid))
        return;
    for (t = q->threads; t; t = next) {
        next = t->hh.next;
        if (t->pid == r->pid && t->tid != r->tid)
            nostop_ends(q, t, r->time);
    }
    t = nostop_find(q, r->tid);
    if (!t)
        t = nostop_add(q, r->tid, r->pid, r->time, 0);
    nostop_read(q, t);
    nostop_emit_passed(q, t, r->time, &t->at);
    nostop_emit(q, t, &e, &t->at);
}

/* Reads the present state of all threads after records were lost. Their history since the last
 * reading is not known. */
static void find_again(struct nostop *q, uint64_t now)
{
    struct nostop_thread *t, *next;

    for (t = q->threads; t; t = next) {
        struct off_sched was = t->at;
        struct switch_interval_over over = {.from = t->since};
        struct task_call call;

        next = t->hh.next;
        if (!nostop_read(q, t)) {
            nostop_ends(q, t, now);
            continue;
        }
        if (t->found != NOSTOP_NOT_LOOKED && is_alike(&was, &t->at))
            continue; /* still the same sleep */
        if (t->found != NOSTOP_NOT_LOOKED) {
            uint64_t since = t->at.cpu_ns - was.cpu_ns + t->at.runq_ns - was.runq_ns;

            over.to = now - t->looked > since ? now - since : t->looked;
            t->at = was;
            nostop_woke(q, t, &over);
            nostop_read(q, t);
        }
        switch_interval_found(&t->nap, now, task_call(t->tid, &call) && call.where != TASK_RUNS);
    }
    nostop_list(q, now);
}

static void handle(struct nostop *q, const struct switch_record *r, uint64_t now)
{
    struct nostop_thread *t = nostop_find(q, r->tid);
    struct switch_interval_over over;

    switch (r->kind) {
    case SWITCH_OUT:
        if (t && switch_interval_leaves(&t->nap, r->time, r->wants, &over))
            nostop_woke(q, t, &over);
        break;
    case SWITCH_IN:
        if (t && switch_interval_comes(&t->nap, r->time, &over))
            nostop_woke(q, t, &over);
        break;
    case SWITCH_FORK:
        forked(q, r);
        break;
    case SWITCH_EXIT:
        if (t)
            nostop_ends(q, t, r->time);
        break;
    case SWITCH_EXEC:
        executed(q, r);
        break;
    case SWITCH_MAPPED:
        if (t)
            q->client.mapped(q->client.arg, t->pid);
        break;
    case SWITCH_LOST:
        q->counts.lost += r->lost;
        find_again(q, now);
        break;
    case SWITCH_DAMAGED:
    case SWITCH_NONE:
        break;
    }
}

static void by_records(struct nostop *q, uint64_t now)
{
    size_t n;
    const struct switch_record *r = switch_rings_read(q->rings, &n);

    for (size_t i = 0; i < n; i++)
        handle(q, &r[i], now);
}

/* ---- scheduler figures ---- */

/* Handles a thread whose figures have changed since the last tick. The time it has run and waited
 * since then gives the time of its return. */
static void moved(struct nostop *q, struct nostop_thread *t, const struct off_sched *s,
                  uint64_t now)
{
    uint64_t up = s->cpu_ns - t->before.cpu_ns + s->runq_ns - t->before.runq_ns;
    uint64_t came = now - q->ticked > up ? now - up : q->ticked;
    struct switch_interval_over over;

    if (t->nap.away && switch_interval_comes(&t->nap, came, &over))
        nostop_woke(q, t, &over);
    t->before = *s;
    t->still = now;
}

static void by_figures(struct nostop *q, uint64_t now)
{
    struct nostop_thread *t, *next;
    struct switch_interval_over over;

    for (t = q->threads; t; t = next) {
        struct off_sched s;

        next = t->hh.next;
        if (!q->client.sched(q->client.arg, t->tid, &s)) {
            nostop_ends(q, t, now);
            continue;
        }
        if (!is_alike(&s, &t->before)) {
            moved(q, t, &s, now);
        } else if (t->found == NOSTOP_AWAKE) { /* it runs, and its figures lag */
            switch_interval_found(&t->nap, now, false);
            t->found = NOSTOP_NOT_LOOKED;
            t->still = now;
        } else if (!t->nap.away) {
            switch_interval_leaves(&t->nap, t->still, false, &over);
        }
    }
}

void nostop_feed(struct nostop *q, uint64_t now)
{
    if (q->rings)
        by_records(q, now);
    else
        by_figures(q, now);
}
