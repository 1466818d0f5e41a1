/*
 * wakers.c: who sleeps on what, and whom a call wakes.
 *
 * A waker's stack can only be read before its call, so sleepers must be found at that
 * moment. Most calls that could wake somebody wake nobody, and most that could sleep
 * do not; so nothing is looked up at the start of a wait: the thread is put on the
 * list of its class, and only a call that can end waits of that class has the objects
 * of those on the list resolved, once for each wait. With an empty list a wake costs
 * one comparison.
 *
 * Rejected: to resolve at the start of every wait (a readlink a read), and to keep the
 * members of poll sets in the hash of queues (an event loop of 4,000 connections would
 * insert them all for each turn).
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "common/strbuf.h"
#include "tracer/calls.h"
#include "tracer/machine.h"
#include "tracer/roles.h"

static enum wait_class class_of(int nr)
{
    static const uint8_t classes[] = {
        [CALL_ON_FD] = WAIT_FD,         [CALL_ON_FDS] = WAIT_SET,     [CALL_ON_EPOLL] = WAIT_SET,
        [CALL_ON_FUTEX] = WAIT_FUTEX,   [CALL_ON_CHILD] = WAIT_CHILD, [CALL_ON_SEM] = WAIT_SEM,
        [CALL_ON_SIGNAL] = WAIT_SIGNAL, [CALL_ON_MSGQ] = WAIT_MSGQ,
    };
    const struct call *c = call_find(nr);

    return c && c->object < ARRAY_LEN(classes) ? (enum wait_class)classes[c->object] : WAIT_NOT;
}

/* ---- lists and queues ---- */

static void queue_put(struct offcpu *o, struct thread *t, const struct off_object *object)
{
    struct off_object key = {.kind = object->kind, .a = object->a, .b = object->b};
    struct queue *q;

    HASH_FIND(hh, o->queues, &key, sizeof key, q);
    if (!q) {
        q = xcalloc(1, sizeof *q);
        q->key = key;
        HASH_ADD(hh, o->queues, key, sizeof q->key, q);
    }
    t->queue = q;
    t->qprev = q->tail;
    t->qnext = NULL;
    if (q->tail)
        q->tail->qnext = t;
    else
        q->head = t;
    q->tail = t;
}

static void queue_leave(struct offcpu *o, struct thread *t)
{
    struct queue *q = t->queue;

    if (!q)
        return;
    if (t->qprev)
        t->qprev->qnext = t->qnext;
    else
        q->head = t->qnext;
    if (t->qnext)
        t->qnext->qprev = t->qprev;
    else
        q->tail = t->qprev;
    t->queue = NULL;
    t->qprev = t->qnext = NULL;
    if (!q->head) {
        HASH_DEL(o->queues, q);
        free(q);
    }
}

void waiting_begin(struct offcpu *o, struct thread *t)
{
    struct waiting *w;

    t->wait = class_of(t->s.nr);
    t->resolved = false;
    t->s.object = (struct off_object){.kind = OFF_ON_NOTHING};
    t->s.set_size = t->nset = 0;
    if (t->wait == WAIT_NOT)
        return;
    w = &o->waiting[t->wait];
    o->writers += t->wait == WAIT_FD && role_sleeping(t->s.nr) & ROLE_ROOM;
    t->prev = w->tail;
    t->next = NULL;
    if (w->tail)
        w->tail->next = t;
    else
        w->head = t;
    w->tail = t;
    if (!w->unresolved)
        w->unresolved = t;
    w->n++;
}

void waiting_end(struct offcpu *o, struct thread *t)
{
    struct waiting *w = &o->waiting[t->wait];

    if (t->wait == WAIT_NOT)
        return;
    o->writers -= t->wait == WAIT_FD && role_sleeping(t->s.nr) & ROLE_ROOM;
    queue_leave(o, t);
    if (w->unresolved == t)
        w->unresolved = t->next;
    if (t->prev)
        t->prev->next = t->next;
    else
        w->head = t->next;
    if (t->next)
        t->next->prev = t->prev;
    else
        w->tail = t->prev;
    t->prev = t->next = NULL;
    t->wait = WAIT_NOT;
    w->n--;
}

void waiting_clear(struct thread *t)
{
    while (t->ngot)
        wake_unref(t->got[--t->ngot]);
}

static int by_identity(const void *a, const void *b)
{
    const struct off_object *x = a, *y = b;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

void waiting_resolve(struct offcpu *o, struct thread *t)
{
    struct off_set set = {NULL, 0};
    bool sorted = true;

    if (t->resolved)
        return;
    t->resolved = true;
    t->s.object = (struct off_object){.kind = OFF_ON_NOTHING};
    o->world.object(o->world.arg, t->tid, t->s.nr, t->s.args, &t->s.object, &set);
    t->s.set_size = t->nset = set.n;
    if (set.n == 0)
        return;
    if (t->set_room < set.n) {
        t->set = xreallocarray(t->set, set.n, sizeof *t->set);
        t->set_room = set.n;
    }
    memcpy(t->set, set.members, set.n * sizeof *t->set);
    for (size_t i = 1; i < set.n && sorted; i++)
        sorted = by_identity(&t->set[i - 1], &t->set[i]) <= 0;
    if (!sorted)
        qsort(t->set, t->nset, sizeof *t->set, by_identity);
}

/* In order of entry, so that queues are. */
static void resolve_all(struct offcpu *o, enum wait_class class)
{
    struct waiting *w = &o->waiting[class];

    for (; w->unresolved; w->unresolved = w->unresolved->next) {
        struct thread *t = w->unresolved;

        waiting_resolve(o, t);
        if (class != WAIT_SET && t->s.object.kind != OFF_ON_NOTHING)
            queue_put(o, t, &t->s.object);
    }
}

/* ---- giving ---- */

/* One waking call; its record is made when the first sleeper is found. */
struct giving {
    struct offcpu *o;
    struct thread *waker;
    uint64_t time;
    struct wake *made;
    unsigned roles; /* enum role */
    bool found;     /* somebody it may have woken */
};

static struct wake *made(struct giving *g)
{
    if (!g->made) {
        struct off_waker who = {.tid = g->waker->tid};

        who.stack = g->o->world.stack(g->o->world.arg, g->waker->tid);
        g->made = wake_new(&who, g->waker->pid, g->time, &g->waker->past, g->o->opt.chain_depth);
        g->made->hangup = g->roles & ROLE_HANGUP;
    }
    return g->made;
}

static void got(struct thread *t, struct wake *w)
{
    if (t->ngot == WAKES_KEPT) { /* the first and the latest are those that can matter */
        wake_unref(t->got[1]);
        memmove(t->got + 1, t->got + 2, (WAKES_KEPT - 2) * sizeof t->got[0]);
        t->ngot--;
    }
    t->got[t->ngot++] = wake_ref(w);
}

static void give(struct giving *g, struct thread *t)
{
    g->found = true;
    got(t, made(g));
}

/* Does what one end does with the thing reach who sleeps at that end? */
static bool reaches(const struct giving *g, unsigned from, unsigned to)
{
    return g->roles & ROLE_HANGUP || !from || !to || from != to;
}

static uint32_t futex_mask(const struct thread *t)
{
    switch (t->s.args[1] & FUTEX_CMD_MASK) {
    case FUTEX_WAIT_BITSET:
        return (uint32_t)t->s.args[5];
    default:
        return UINT32_MAX;
    }
}

static struct queue *find_queue(struct offcpu *o, const struct off_object *object)
{
    struct off_object key = {.kind = object->kind, .a = object->a, .b = object->b};
    struct queue *q;

    HASH_FIND(hh, o->queues, &key, sizeof key, q);
    return q;
}

static bool all_woken(enum off_object_kind kind)
{
    return kind == OFF_ON_SEM || kind == OFF_ON_LOCK;
}

/* Wakes `n` of those that wait for the object and have not been woken. If all of them
 * have been, the wake is noted with the first: see WAKE_STALE_NS. */
static void give_queue(struct giving *g, const struct off_object *object, uint64_t n, uint32_t mask)
{
    struct queue *q = find_queue(g->o, object);
    struct thread *spare = NULL;
    uint64_t left = n;

    for (struct thread *t = q ? q->head : NULL; t && left; t = t->qnext) {
        bool futex = t->wait == WAIT_FUTEX;

        if (t == g->waker || (futex && !(futex_mask(t) & mask)))
            continue;
        if (!futex &&
            (!(role_sleeping(t->s.nr) & g->roles) || !reaches(g, object->side, t->s.object.side)))
            continue;
        if (t->ngot && !all_woken(object->kind)) {
            if (!spare)
                spare = t;
            continue;
        }
        give(g, t);
        left -= !all_woken(object->kind);
    }
    if (spare && left == n)
        give(g, spare);
}

static void give_sets(struct giving *g, const struct off_object *object)
{
    for (struct thread *t = g->o->waiting[WAIT_SET].head; t; t = t->next) {
        const struct off_object *m, *end = t->set + t->nset;

        if (t == g->waker)
            continue;
        if (object->kind == OFF_ON_SET) { /* epoll_ctl: a member that was ready came in */
            if (off_same(object, &t->s.object))
                give(g, t);
            continue;
        }
        if (!t->nset)
            continue;
        m = bsearch(object, t->set, t->nset, sizeof *t->set, by_identity);
        if (!m)
            continue;
        while (m > t->set && off_same(m - 1, object)) /* both ends may be in the set */
            m--;
        for (; m < end && off_same(m, object); m++)
            if ((m->wants ? m->wants : OFF_WANTS_DATA) & g->roles &&
                reaches(g, object->side, m->side)) {
                give(g, t);
                break;
            }
    }
}

static struct off_object object_of(struct giving *g, int nr, const uint64_t args[6])
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
    struct queue *q = find_queue(o, from);
    struct thread *t, *next;

    if (off_same(from, to))
        return;
    for (t = q ? q->head : NULL; t && n > 0; t = next) {
        next = t->qnext; /* the queue is gone with its last thread, t is not */
        if (t->ngot)
            continue;
        queue_leave(o, t);
        queue_put(o, t, to);
        n--;
    }
}

static void wake_futex(struct giving *g, const struct off_event *e)
{
    int op = (int)(e->args[1] & FUTEX_CMD_MASK);
    int wakes = (int)e->args[2], second = (int)e->args[3];
    uint64_t other[6] = {e->args[4], (e->args[1] & FUTEX_PRIVATE_FLAG) | FUTEX_WAKE, 1};
    uint32_t mask = UINT32_MAX;
    struct off_object to, object;

    switch (op) {
    case FUTEX_WAKE_BITSET:
        mask = (uint32_t)e->args[5];
        __attribute__((fallthrough));
    case FUTEX_WAKE:
    case FUTEX_WAKE_OP:
        wakes = wakes < 1 ? 1 : wakes; /* as the kernel has it */
        break;
    case FUTEX_UNLOCK_PI:
        wakes = 1;
        break;
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
    case FUTEX_CMP_REQUEUE_PI:
        wakes = wakes < 0 ? 0 : wakes;
        break;
    default:
        return;
    }
    object = object_of(g, e->nr, e->args);
    if (wakes)
        give_queue(g, &object, (uint64_t)wakes, mask);
    if (op == FUTEX_WAKE_OP) {
        to = object_of(g, e->nr, other);
        give_queue(g, &to, (uint64_t)(second < 1 ? 1 : second), UINT32_MAX);
    } else if (op == FUTEX_REQUEUE || op == FUTEX_CMP_REQUEUE || op == FUTEX_CMP_REQUEUE_PI) {
        to = object_of(g, e->nr, other);
        requeue(g->o, &object, &to, second);
    }
}

/* ---- signals ---- */

static bool anybody(const struct offcpu *o)
{
    for (const struct process *p = o->processes; p; p = p->hh.next)
        if (p->in_calls)
            return true;
    return false;
}

/* Notes who sends what to whom, if anybody there sleeps. */
static void wake_by_signal(struct giving *g, const struct off_event *e)
{
    struct offcpu *o = g->o;
    struct sent sent = {(int)e->args[1], (pid_t)e->args[0], NULL}, *slot;
    struct process *p;

    if (e->nr == SYS_tgkill || e->nr == SYS_rt_tgsigqueueinfo)
        sent.signal = (int)e->args[2];
    if (e->nr == SYS_tkill) {
        struct thread *to = machine_thread(o, (pid_t)e->args[0]);

        sent.pid = to ? to->pid : sent.pid;
    }
    if (e->nr == SYS_pidfd_send_signal) /* args[0] is a descriptor; any receiver may be meant */
        sent.pid = 0;
    p = sent.pid > 0 ? machine_process(o, sent.pid) : NULL;
    if (sent.signal == 0 || (sent.pid > 0 ? !p || !p->in_calls : !anybody(o)))
        return;
    sent.wake = wake_ref(made(g));
    g->found = true;
    slot = &o->sent[o->nsent++ % SENT_KEPT];
    wake_unref(slot->wake);
    *slot = sent;
}

/* ---- the calls ---- */

static void remember_early(struct offcpu *o, const struct off_event *e)
{
    struct early *early = &o->early[o->nearly++ % EARLY_KEPT];

    early->tid = e->tid;
    early->nr = e->nr;
    early->time = e->time;
    memcpy(early->args, e->args, sizeof early->args);
}

void waking_call(struct offcpu *o, struct thread *waker, const struct off_event *e)
{
    const struct call *c = call_find(e->nr);
    struct giving g = {.o = o, .waker = waker, .time = e->time, .roles = role_waking(e->nr)};
    enum wait_class class;
    struct off_object object;

    if (!c)
        return;
    if (c->object == CALL_ON_PROCESS) {
        wake_by_signal(&g, e);
        wake_unref(g.made);
        return;
    }
    class = class_of(e->nr);
    switch (class) {
    case WAIT_FUTEX:
        if (!o->waiting[class].n)
            break;
        resolve_all(o, class);
        wake_futex(&g, e);
        break;
    case WAIT_FD:
    case WAIT_SEM:
    case WAIT_MSGQ:
        if (!(class == WAIT_FD && g.roles == ROLE_ROOM ? o->writers : o->waiting[class].n) &&
            (class != WAIT_FD || !o->waiting[WAIT_SET].n))
            break;
        object = object_of(&g, e->nr, e->args);
        if (object.kind == OFF_ON_NOTHING || object.kind == OFF_ON_FILE)
            return;
        resolve_all(o, class);
        give_queue(&g, &object, g.roles & ROLE_HANGUP ? UINT64_MAX : 1, UINT32_MAX);
        if (class == WAIT_FD && o->waiting[WAIT_SET].n) {
            resolve_all(o, WAIT_SET);
            give_sets(&g, &object);
        }
        break;
    default:
        return;
    }
    if (!g.found)
        remember_early(o, e);
    wake_unref(g.made);
}

/* ---- ends of threads ---- */

static bool is_vfork(const struct thread *t)
{
    return t->s.nr == SYS_vfork || t->s.nr == SYS_clone3 ||
           (t->s.nr == SYS_clone && t->s.args[0] & CLONE_VFORK);
}

void waking_exec(struct offcpu *o, struct thread *t, uint64_t now, bool with_stack)
{
    struct giving g = {.o = o, .waker = t, .time = now, .roles = ROLE_ALL};
    const struct process *p = machine_process(o, t->pid);

    if (!with_stack)
        g.made =
            wake_new(&(struct off_waker){.tid = t->tid}, t->pid, now, &t->past, o->opt.chain_depth);
    for (struct thread *parent = o->waiting[WAIT_CHILD].head; parent; parent = parent->next)
        if (p && p->ppid && parent->pid == p->ppid && is_vfork(parent) &&
            (with_stack || !parent->ngot))
            give(&g, parent);
    wake_unref(g.made);
}

/* A join waits, through the futex the kernel clears, for the thread's number to go away;
 * who waits for a robust mutex has the number of its owner there too. */
static void wake_joiners(struct giving *g)
{
    for (struct thread *t = g->o->waiting[WAIT_FUTEX].head; t; t = t->next) {
        unsigned op = (unsigned)(t->s.args[1] & FUTEX_CMD_MASK);

        if (t != g->waker && t->pid == g->waker->pid &&
            (op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET) &&
            (t->s.args[2] & FUTEX_TID_MASK) == (uint64_t)g->waker->tid)
            give(g, t);
    }
}

void waking_exit(struct offcpu *o, struct thread *dying, uint64_t now)
{
    struct giving g = {.o = o, .waker = dying, .time = now, .roles = ROLE_ALL};
    struct process *p = machine_process(o, dying->pid);
    struct process *parent = p && p->ppid ? machine_process(o, p->ppid) : NULL;

    if (o->waiting[WAIT_FUTEX].n)
        wake_joiners(&g);
    if (p && p->in_calls && dying->phase == PHASE_OUT && !p->ending)
        p->ending = wake_ref(made(&g));
    if (p && (parent ? parent->in_calls > 0 : o->waiting[WAIT_CHILD].n > 0)) {
        struct grave *grave = NULL;
        size_t n = o->ngraves < GRAVES_KEPT ? o->ngraves : GRAVES_KEPT;

        for (size_t i = 0; i < n && !grave; i++)
            if (o->graves[i].pid == p->pid)
                grave = &o->graves[i];
        if (!grave)
            grave = &o->graves[o->ngraves++ % GRAVES_KEPT];
        wake_unref(grave->wake);
        *grave = (struct grave){p->pid, p->ppid, wake_ref(made(&g))};
        waking_exec(o, dying, now, true);
    }
    wake_unref(g.made);
}

/* ---- second thoughts ---- */

void waking_pass_on(struct thread *t)
{
    struct queue *q = t->queue;

    if (!t->ngot || !q || all_woken(q->key.kind))
        return;
    for (struct thread *next = q->head; next; next = next->qnext) {
        if (next == t || next->ngot || next->tid == t->got[0]->links[0].who.tid)
            continue;
        got(next, t->got[0]);
        break;
    }
    if (t->wait == WAIT_FUTEX) /* a wake would have given 0 */
        waiting_clear(t);
}

struct wake *waking_steal(struct thread *t)
{
    struct queue *q = t->queue;

    for (struct thread *other = q ? q->head : NULL; other; other = other->qnext) {
        struct wake *w;

        if (other == t || !other->ngot || other->got[0]->links[0].who.tid == t->tid ||
            (t->wait != WAIT_FUTEX && role_sleeping(other->s.nr) != role_sleeping(t->s.nr)))
            continue;
        w = other->got[0];
        other->ngot--;
        memmove(other->got, other->got + 1, other->ngot * sizeof other->got[0]);
        return w;
    }
    return NULL;
}

/* How long before the start of a sleep a wake may have been entered and still be what
 * ended it: the way out of the waker's stop and into the kernel. */
#define EARLY_NS 500000

struct wake *waking_early(struct offcpu *o, struct thread *t)
{
    size_t n = o->nearly < EARLY_KEPT ? o->nearly : EARLY_KEPT;

    for (size_t i = 1; i <= n; i++) {
        const struct early *e = &o->early[(o->nearly - i) % EARLY_KEPT];
        struct thread *waker = machine_thread(o, e->tid);
        struct off_waker who = {.tid = e->tid};
        struct off_object object;
        struct giving g = {.o = o, .waker = waker, .roles = role_waking(e->nr)};

        if (e->time > t->s.end || e->time + EARLY_NS < t->s.begin)
            break;
        if (!waker || waker == t || waker->seen != e->time || class_of(e->nr) != class_of(t->s.nr))
            continue;
        object = object_of(&g, e->nr, e->args);
        if (object.kind == OFF_ON_NOTHING || !off_same(&object, &t->s.object))
            continue;
        if (t->s.object.kind != OFF_ON_FUTEX &&
            (!(role_sleeping(t->s.nr) & g.roles) || !reaches(&g, object.side, t->s.object.side)))
            continue;
        return wake_new(&who, waker->pid, e->time, &waker->past, o->opt.chain_depth);
    }
    return NULL;
}
