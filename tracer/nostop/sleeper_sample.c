/*
 * sleeper_sample.c: samples a sleeping thread without its noticing.
 *
 * The thread may wake at any moment. Its count of turns on processors, read before and after, shows
 * whether it has: then the sample is dropped. A sample is also dropped if the kernel recorded the
 * thread's return before the sample, because the sample is then of a later sleep.
 *
 * Sampling takes at most half of each tick: where hundreds of threads sleep for milliseconds, some
 * sleeps are over before they can be sampled. Those are emitted as off_unsampled.missed.
 */
#include <string.h>
#include <sys/syscall.h>

#include "common/clock.h"
#include "tracer/ptrace/restart.h"
#include "tracer/nostop/nostop_state.h"

static void add_span(struct off_span *s, uint64_t ns)
{
    s->ns += ns;
    s->times++;
    if (ns > s->longest_ns)
        s->longest_ns = ns;
}

/* ---- samples ---- */

static bool is_due(const struct nostop *q, const struct nostop_thread *t, uint64_t now)
{
    /* A tick is less than least_ns by twice that: a thread not due yet is sampled in time. */
    return t->nap.away && !t->nap.wants && t->found == NOSTOP_NOT_LOOKED &&
           now >= t->nap.left + q->opt.least_ns / 8;
}

static bool is_stopped(pid_t tid)
{
    unsigned long flags;
    char state;

    return task_state(tid, &state, &flags) && (state == 'T' || state == 't');
}

static void look(struct nostop *q, struct nostop_thread *t)
{
    struct off_sched after;
    enum nostop_found found;

    t->looked = clock_ns(CLOCK_MONOTONIC);
    t->since = t->nap.left;
    if (!nostop_read(q, t) || !task_call(t->tid, &t->call))
        return; /* it has ended, or may not be read any more */
    if (t->call.where == TASK_RUNS) {
        t->found = NOSTOP_AWAKE;
        return;
    }
    if (is_stopped(t->tid))
        found = NOSTOP_STOPPED;
    else if (t->call.where == TASK_FAULTS)
        found = NOSTOP_FAULTS;
    else
        found = NOSTOP_IN_CALL;
    if (t->call.nr == SYS_restart_syscall)
        t->call.nr = restart_identity(t->tid, &t->call);
    if (found == NOSTOP_IN_CALL)
        q->client.look(q->client.arg, t->tid, &t->call);
    if (q->client.sched(q->client.arg, t->tid, &after) && after.turns == t->at.turns)
        t->found = found;
}

void nostop_look_around(struct nostop *q, uint64_t now)
{
    struct nostop_thread *first = q->next ? q->next : q->threads, *t = first;
    unsigned looks = 0;

    q->next = NULL;
    while (t) {
        if (is_due(q, t, now)) {
            look(q, t);
            if (++looks % 4 == 0 && clock_ns(CLOCK_MONOTONIC) - now > q->tick_ns / 2) {
                q->next = t->hh.next;
                break;
            }
        }
        t = t->hh.next ? t->hh.next : q->threads;
        if (t == first)
            break;
    }
}

/* ---- results ---- */

/* Run-queue wait at the end of the sleep, out of all such waits since the sample. If the thread has
 * had other turns on processors since, all are taken as equally long. */
static uint64_t runq_of(const struct off_sched *at, const struct off_sched *now, uint64_t most)
{
    uint64_t turns = now->turns > at->turns ? now->turns - at->turns : 1, ns;

    ns = now->runq_ns > at->runq_ns ? (now->runq_ns - at->runq_ns) / turns : 0;
    return ns < most ? ns : most;
}

static void emit_begin(struct nostop *q, struct nostop_thread *t)
{
    struct off_event e = {.kind = OFF_ENTRY,
                          .time = t->since,
                          .nr = t->call.nr,
                          .attached_in_call = t->from_begin,
                          .sampled = true};

    if (t->found == NOSTOP_STOPPED)
        e = (struct off_event){.kind = OFF_STOPPED, .time = t->since};
    memcpy(e.args, t->call.args, sizeof e.args);
    nostop_emit_passed(q, t, t->since, &t->at);
    nostop_emit(q, t, &e, &t->at);
}

static void emit_end(struct nostop *q, struct nostop_thread *t,
                     const struct switch_interval_over *over)
{
    struct off_event e = {.kind = t->found == NOSTOP_STOPPED ? OFF_CONTINUED : OFF_EXIT,
                          .time = over->to,
                          .nr = t->call.nr,
                          .result = OFF_RESULT_NOT_KNOWN};
    struct off_sched then = t->at, now;

    if (q->client.sched(q->client.arg, t->tid, &now))
        then.runq_ns += runq_of(&t->at, &now, over->to - over->from);
    nostop_emit(q, t, &e, &then);
    q->counts.reported += t->found == NOSTOP_IN_CALL;
}

/* Adds a sleep that is not emitted by itself to the sum it belongs to. */
static void pass(struct nostop *q, struct nostop_thread *t, const struct switch_interval_over *over,
                 bool looked)
{
    uint64_t ns = over->to - over->from, asleep = ns;
    struct off_span *all, *own;

    if (looked && t->found == NOSTOP_AWAKE)
        asleep = t->looked > over->from ? t->looked - over->from : 0;
    if (looked && t->found == NOSTOP_FAULTS) {
        own = &t->passed.faults;
        all = &q->counts.not .faults;
    } else if (asleep >= q->opt.least_ns) {
        own = &t->passed.too_late;
        all = &q->counts.not .too_late;
    } else {
        own = &t->passed.too_short;
        all = &q->counts.not .too_short;
    }
    add_span(own, ns);
    add_span(all, ns);
}

void nostop_woke(struct nostop *q, struct nostop_thread *t, const struct switch_interval_over *over)
{
    bool looked = t->found != NOSTOP_NOT_LOOKED && t->since == over->from && over->to >= t->looked;

    if (!over->wants) {
        if (looked && (t->found == NOSTOP_STOPPED ||
                       (t->found == NOSTOP_IN_CALL && over->to - over->from >= q->opt.least_ns))) {
            emit_begin(q, t);
            emit_end(q, t, over);
        } else {
            pass(q, t, over, looked);
        }
    }
    t->found = NOSTOP_NOT_LOOKED;
    t->from_begin = false;
}

void nostop_sleeps_on(struct nostop *q, struct nostop_thread *t, uint64_t time)
{
    const struct switch_interval_over so_far = {.from = t->nap.left, .to = time};

    if (!t->nap.away || t->nap.wants || time <= t->nap.left)
        return;
    if ((t->found == NOSTOP_IN_CALL && time - t->since >= q->opt.least_ns) ||
        t->found == NOSTOP_STOPPED)
        emit_begin(q, t);
    else
        pass(q, t, &so_far, true);
}
