/*
 * wakers.c: the sleepers that a call wakes. offcpu.h has the rules; waiting.c says why objects are
 * looked up so late.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>

#include "common/strbuf.h"
#include "tracer/offcpu/calls.h"
#include "tracer/offcpu/futexcall.h"
#include "tracer/offcpu/wake_call.h"
#include "tracer/offcpu/wake_direction.h"

/* ---- wakes of a call ---- */

struct wake *wake_call_wake(struct wake_call *g)
{
    if (!g->made) {
        struct off_waker who = {.tid = g->waker->tid};

        who.stack = g->o->world.stack(g->o->world.arg, g->waker->tid);
        g->made = wake_new(&who, g->waker->pid, g->time, &g->waker->past, g->o->opt.chain_depth);
        g->made->hangup = g->roles & WAKE_HANGUP;
    }
    return g->made;
}

void sleeper_add_wake(struct sleeper *t, struct wake *w)
{
    if (t->ngot == WAKES_KEPT) { /* only the first and the latest can matter */
        wake_unref(t->got[1]);
        memmove(t->got + 1, t->got + 2, (WAKES_KEPT - 2) * sizeof t->got[0]);
        t->ngot--;
    }
    t->got[t->ngot++] = wake_ref(w);
}

void wake_call_may_wake(struct wake_call *g, struct sleeper *t)
{
    g->found = true;
    sleeper_add_wake(t, wake_call_wake(g));
}

bool wake_call_reaches(const struct wake_call *g, unsigned from, unsigned to)
{
    return g->roles & WAKE_HANGUP || !from || !to || from != to;
}

static uint32_t futex_mask(const struct sleeper *t)
{
    struct futex_call call;

    futex_call_read(t->s.nr, t->s.args, &call);
    return call.mask;
}

bool object_wakes_all(enum off_object_kind kind)
{
    return kind == OFF_ON_SEM || kind == OFF_ON_LOCK;
}

/* Wakes `n` of the threads that wait for the object and have not been woken. If all of them have
 * been, the wake is added to the first: see WAKE_STALE_NS. */
static void give_queue(struct wake_call *g, const struct off_object *object, uint64_t n,
                       uint32_t mask)
{
    struct queue *q = queue_find(g->o, object);
    struct sleeper *spare = NULL;
    uint64_t left = n;

    for (struct sleeper *t = q ? q->head : NULL; t && left; t = t->qnext) {
        bool futex = t->wait == WAIT_FUTEX;

        if (t == g->waker || (futex && !(futex_mask(t) & mask)))
            continue;
        if (!futex && (!(wake_direction_of_sleep(t->s.nr) & g->roles) ||
                       !wake_call_reaches(g, object->side, t->s.object.side)))
            continue;
        if (t->ngot && !object_wakes_all(object->kind)) {
            if (!spare)
                spare = t;
            continue;
        }
        wake_call_may_wake(g, t);
        left -= !object_wakes_all(object->kind);
    }
    if (spare && left == n)
        wake_call_may_wake(g, spare);
}

void wake_call_give_sets(struct wake_call *g, const struct off_object *object)
{
    for (struct sleeper *t = g->o->waiting[WAIT_SET].head; t; t = t->next) {
        const struct off_object *m, *end;

        if (t == g->waker)
            continue;
        if (object->kind == OFF_ON_SET) { /* epoll_ctl: a member that was ready came in */
            if (off_same(object, &t->s.object))
                wake_call_may_wake(g, t);
            continue;
        }
        if (!t->nset)
            continue;
        m = bsearch(object, t->set, t->nset, sizeof *t->set, off_order);
        if (!m)
            continue;
        end = t->set + t->nset;
        while (m > t->set && off_same(m - 1, object)) /* both ends may be in the set */
            m--;
        for (; m < end && off_same(m, object); m++)
            if ((m->wants ? m->wants : OFF_WANTS_DATA) & g->roles &&
                wake_call_reaches(g, object->side, m->side)) {
                wake_call_may_wake(g, t);
                break;
            }
    }
}

struct off_object wake_call_object(struct wake_call *g, int nr, const uint64_t args[6])
{
    struct off_object object = {.kind = OFF_ON_NOTHING};
    struct off_set set = {NULL, 0};

    g->o->world.object(g->o->world.arg, g->waker->tid, nr, args, &object, &set);
    return object;
}

/* ---- futexes ---- */

static void requeue(struct offcpu *o, const struct off_object *from, const struct off_object *to,
                    int64_t n)
{
    struct queue *q = queue_find(o, from);
    struct sleeper *t, *next;

    if (off_same(from, to))
        return;
    for (t = q ? q->head : NULL; t && n > 0; t = next) {
        next = t->qnext; /* the queue is freed with its last thread, t is not */
        if (t->ngot)
            continue;
        queue_leave(o, t);
        queue_put(o, t, to);
        n--;
    }
}

static void wake_futex(struct wake_call *g, const struct off_event *e)
{
    struct off_object to, object;
    struct futex_call call;

    futex_call_read(e->nr, e->args, &call);
    if (call.does == FUTEX_DOES_NOTHING || call.does == FUTEX_WAITS)
        return;
    object = wake_call_object(g, e->nr, e->args);
    if (call.wakes)
        give_queue(g, &object, (uint64_t)call.wakes, call.mask);
    if (call.does == FUTEX_WAKES)
        return;
    to = wake_call_object(g, e->nr, call.other);
    if (call.does == FUTEX_WAKES_AT_TWO)
        give_queue(g, &to, (uint64_t)call.second, UINT32_MAX);
    else
        requeue(g->o, &object, &to, call.second);
}

/* ---- signals ---- */

static bool anybody(const struct offcpu *o)
{
    for (const struct sleeper_process *p = o->processes; p; p = p->hh.next)
        if (p->in_calls)
            return true;
    return false;
}

/* Whether the signal ends most processes. If so, it matters also to a running thread whose end
 * others wait for. */
static bool ends_processes(int signal)
{
    return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP ||
           signal == SIGQUIT || signal == SIGABRT;
}

/* Records a sent signal, if a receiver sleeps, or may be ended by it. */
static void wake_by_signal(struct wake_call *g, const struct call *c, const struct off_event *e)
{
    struct offcpu *o = g->o;
    struct sent_signal sent = {(int)e->args[c->signal_arg], (pid_t)e->args[0], NULL}, *slot;
    struct sleeper_process *p;

    if (c->to == CALL_TO_THREAD) {
        struct sleeper *to = machine_sleeper(o, (pid_t)e->args[0]);

        sent.pid = to ? to->pid : sent.pid;
    } else if (c->to == CALL_TO_PIDFD) { /* 0 if it is not known: any receiver is possible */
        struct off_object to = wake_call_object(g, e->nr, e->args);

        sent.pid = to.kind == OFF_ON_CHILD ? (pid_t)to.a : 0;
    }
    p = sent.pid > 0 ? machine_process(o, sent.pid) : NULL;
    if (sent.signal == 0 || (sent.pid > 0 ? !p : !anybody(o)) ||
        (p && !p->in_calls && !ends_processes(sent.signal)))
        return;
    sent.wake = wake_ref(wake_call_wake(g));
    g->found = true;
    slot = &o->sent[o->nsent++ % SENT_SIGNALS_KEPT];
    wake_unref(slot->wake);
    *slot = sent;
}

/* ---- the calls ---- */

/* Whether the call wakes at all. Only such a call may wake a thread that begins to wait just after
 * it. */
static bool may_wake(const struct off_event *e)
{
    struct futex_call call;

    if (waiting_class(e->nr) != WAIT_FUTEX)
        return true;
    futex_call_read(e->nr, e->args, &call);
    return call.wakes > 0;
}

static void remember_early(struct offcpu *o, const struct off_event *e)
{
    struct unclaimed_wake *early = &o->early[o->nearly++ % UNCLAIMED_WAKES_KEPT];

    early->tid = e->tid;
    early->nr = e->nr;
    early->time = e->time;
    memcpy(early->args, e->args, sizeof early->args);
}

void waking_call(struct offcpu *o, struct sleeper *waker, const struct off_event *e)
{
    const struct call *c = call_find(e->nr);
    struct wake_call g = {
        .o = o, .waker = waker, .time = e->time, .roles = wake_direction_of_waking(e->nr)};
    enum wait_class class;
    struct off_object object;

    if (!c)
        return;
    if (c->object == CALL_ON_PROCESS) {
        wake_by_signal(&g, c, e);
        wake_unref(g.made);
        return;
    }
    class = waiting_class(e->nr);
    switch (class) {
    case WAIT_FUTEX:
        if (!o->waiting[class].n)
            break;
        waiting_resolve_all(o, class);
        wake_futex(&g, e);
        break;
    case WAIT_FD:
    case WAIT_SEM:
    case WAIT_MSGQ:
        if (!(class == WAIT_FD && g.roles == WAKE_ROOM ? o->writers : o->waiting[class].n) &&
            (class != WAIT_FD || !o->waiting[WAIT_SET].n))
            break;
        object = wake_call_object(&g, e->nr, e->args);
        if (object.kind == OFF_ON_NOTHING || object.kind == OFF_ON_FILE)
            return;
        waiting_resolve_all(o, class);
        give_queue(&g, &object, g.roles & WAKE_HANGUP ? UINT64_MAX : 1, UINT32_MAX);
        if (class == WAIT_FD && o->waiting[WAIT_SET].n) {
            waiting_resolve_all(o, WAIT_SET);
            wake_call_give_sets(&g, &object);
        }
        break;
    default:
        return;
    }
    if (!g.found && may_wake(e))
        remember_early(o, e);
    wake_unref(g.made);
}
