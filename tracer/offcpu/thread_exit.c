/*
 * thread_exit.c: wakes by the end of a thread, and corrections of earlier wakes.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>

#include "tracer/offcpu/calls.h"
#include "tracer/offcpu/wake_call.h"
#include "tracer/offcpu/wake_direction.h"

/* ---- ends of threads ---- */

static bool is_vfork(const struct sleeper *t)
{
    return call_makes_child(call_find(t->s.nr));
}

static void wake_vforker(struct wake_call *g, bool with_stack)
{
    struct offcpu *o = g->o;
    struct sleeper *t = g->waker;
    const struct sleeper_process *p = machine_process(o, t->pid);

    for (struct sleeper *parent = o->waiting[WAIT_CHILD].head; parent; parent = parent->next)
        if (p && p->ppid && parent->pid == p->ppid && is_vfork(parent) &&
            (with_stack || !parent->ngot))
            wake_call_may_wake(g, parent);
}

void waking_exec(struct offcpu *o, struct sleeper *t, uint64_t now, bool with_stack)
{
    struct wake_call g = {.o = o, .waker = t, .time = now, .roles = WAKE_ALL};

    if (!with_stack)
        g.made =
            wake_new(&(struct off_waker){.tid = t->tid}, t->pid, now, &t->past, o->opt.chain_depth);
    wake_vforker(&g, with_stack);
    if (with_stack) {
        g.roles = WAKE_HANGUP;
        if (g.made)
            g.made->hangup = true;
        holders_close(&g, true);
    }
    wake_unref(g.made);
}

/* Wakes threads that join the dying one. A join waits on the futex with the thread's number, which
 * the kernel clears. A waiter for a robust mutex, also one in another process, waits on a word with
 * the number of its owner. */
static void wake_joiners(struct wake_call *g)
{
    for (struct sleeper *t = g->o->waiting[WAIT_FUTEX].head; t; t = t->next) {
        unsigned op = (unsigned)(t->s.args[1] & FUTEX_CMD_MASK);

        if (t != g->waker && (t->pid == g->waker->pid || !(t->s.args[1] & FUTEX_PRIVATE_FLAG)) &&
            (op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET) &&
            (t->s.args[2] & FUTEX_TID_MASK) == (uint64_t)g->waker->tid)
            wake_call_may_wake(g, t);
    }
}

/* Wakes at the end of a process's last thread: polls of its pidfd, and waits for objects that it
 * has open. */
static void wake_by_last(struct wake_call *g, const struct sleeper_process *p, struct wake *killer)
{
    const struct off_object ended = {.kind = OFF_ON_CHILD, .a = (uint64_t)p->pid};
    struct wake_call last = *g;

    if (killer)
        last.made = killer;
    if (g->o->waiting[WAIT_SET].n) {
        waiting_resolve_all(g->o, WAIT_SET);
        wake_call_give_sets(&last, &ended);
    }
    last.roles = WAKE_HANGUP;
    if (last.made)
        last.made->hangup = true;
    holders_close(&last, false);
    if (!killer)
        g->made = last.made;
}

void waking_exit(struct offcpu *o, struct sleeper *dying, uint64_t now, struct wake *killer)
{
    struct wake_call g = {.o = o, .waker = dying, .time = now, .roles = WAKE_ALL};
    struct sleeper_process *p = machine_process(o, dying->pid);
    struct sleeper_process *parent = p && p->ppid ? machine_process(o, p->ppid) : NULL;

    if (o->waiting[WAIT_FUTEX].n)
        wake_joiners(&g);
    if (p && p->in_calls && p->signal.tid == dying->tid && !p->ending)
        p->ending = wake_ref(wake_call_wake(&g));
    if (p && ++p->exiting >= p->threads)
        wake_by_last(&g, p, killer);
    if (p && (parent ? parent->in_calls > 0 : o->waiting[WAIT_CHILD].n > 0)) {
        struct exited_process *grave = NULL;
        size_t n = o->nexited < EXITED_PROCESSES_KEPT ? o->nexited : EXITED_PROCESSES_KEPT;

        for (size_t i = 0; i < n && !grave; i++)
            if (o->exited[i].pid == p->pid)
                grave = &o->exited[i];
        if (!grave)
            grave = &o->exited[o->nexited++ % EXITED_PROCESSES_KEPT];
        wake_unref(grave->wake);
        *grave = (struct exited_process){p->pid, p->ppid,
                                         wake_ref(killer ? killer : wake_call_wake(&g))};
        wake_vforker(&g, true);
    }
    wake_unref(g.made);
}

/* ---- corrections ---- */

void wake_transfer(struct sleeper *t)
{
    struct queue *q = t->queue;

    if (!t->ngot || !q || object_wakes_all(q->key.kind))
        return;
    for (struct sleeper *next = q->head; next; next = next->qnext) {
        if (next == t || next->ngot || next->tid == t->got[0]->links[0].who.tid)
            continue;
        sleeper_add_wake(next, t->got[0]);
        break;
    }
    if (t->wait == WAIT_FUTEX) /* a real wake would have returned 0 */
        waiting_clear(t);
}

struct wake *wake_take_from_peer(struct sleeper *t)
{
    struct queue *q = t->queue;

    for (struct sleeper *other = q ? q->head : NULL; other; other = other->qnext) {
        struct wake *w;

        if (other == t || !other->ngot || other->got[0]->links[0].who.tid == t->tid ||
            (t->wait != WAIT_FUTEX &&
             wake_direction_of_sleep(other->s.nr) != wake_direction_of_sleep(t->s.nr)))
            continue;
        w = other->got[0];
        other->ngot--;
        memmove(other->got, other->got + 1, other->ngot * sizeof other->got[0]);
        return w;
    }
    return NULL;
}

/* Time before the start of a sleep in which a wake may have begun and still have ended that sleep:
 * the way out of the waker's stop and into the kernel. */
#define EARLY_NS 500000

struct wake *wake_find_unclaimed(struct offcpu *o, struct sleeper *t)
{
    size_t n = o->nearly < UNCLAIMED_WAKES_KEPT ? o->nearly : UNCLAIMED_WAKES_KEPT;

    for (size_t i = 1; i <= n; i++) {
        const struct unclaimed_wake *e = &o->early[(o->nearly - i) % UNCLAIMED_WAKES_KEPT];
        struct sleeper *waker = machine_sleeper(o, e->tid);
        struct off_waker who = {.tid = e->tid};
        struct off_object object;
        struct wake_call g = {.o = o, .waker = waker, .roles = wake_direction_of_waking(e->nr)};

        if (e->time > t->s.end || e->time + EARLY_NS < t->s.begin)
            break;
        if (!waker || waker == t || waker->seen != e->time ||
            waiting_class(e->nr) != waiting_class(t->s.nr))
            continue;
        object = wake_call_object(&g, e->nr, e->args);
        if (object.kind == OFF_ON_NOTHING || !off_same(&object, &t->s.object))
            continue;
        if (t->s.object.kind != OFF_ON_FUTEX &&
            (!(wake_direction_of_sleep(t->s.nr) & g.roles) ||
             !wake_call_reaches(&g, object.side, t->s.object.side)))
            continue;
        return wake_new(&who, waker->pid, e->time, &waker->past, o->opt.chain_depth);
    }
    return NULL;
}
