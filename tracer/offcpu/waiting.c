/*
 * waiting.c: lists of sleepers by the object they wait for.
 *
 * A waker's stack can only be read before its call, so sleepers must be found at that moment. Most
 * calls that could wake a thread wake none, and most that could sleep do not. So no object is
 * looked up at the start of a wait: the thread is put on the list of its class. Only a call that
 * can end waits of that class has the objects of the listed threads resolved, once for each wait.
 * With an empty list a wake costs one comparison.
 *
 * Rejected: resolving at the start of every wait, because that is a readlink for each read.
 * Rejected: inserting the members of poll sets into the hash of queues, because an event loop of
 * 4,000 connections would insert them all for each iteration.
 */
#include "tracer/offcpu/calls.h"
#include "tracer/offcpu/pool.h"
#include "tracer/offcpu/wake_call.h"
#include "tracer/offcpu/wake_direction.h"

enum wait_class waiting_class(int nr)
{
    static const uint8_t classes[] = {
        [CALL_ON_FD] = WAIT_FD,         [CALL_ON_LOCK] = WAIT_FD,     [CALL_ON_MQUEUE] = WAIT_FD,
        [CALL_ON_POLLFDS] = WAIT_SET,   [CALL_ON_FDSETS] = WAIT_SET,  [CALL_ON_EPOLL] = WAIT_SET,
        [CALL_ON_FUTEX] = WAIT_FUTEX,   [CALL_ON_CHILD] = WAIT_CHILD, [CALL_ON_SEM] = WAIT_SEM,
        [CALL_ON_SIGNAL] = WAIT_SIGNAL, [CALL_ON_MSGQ] = WAIT_MSGQ,
    };
    const struct call *c = call_find(nr);

    return c && c->object < ARRAY_LEN(classes) ? (enum wait_class)classes[c->object] : WAIT_NOT;
}

/* ---- lists and queues ---- */

/* Number of empty queues that are cached, as threads wait for the same things again. */
#define EMPTY_MOST 256u

static struct pool queues = {.size = sizeof(struct queue)};

void queues_drop_empty(struct offcpu *o)
{
    for (struct queue *q = o->queues, *next; q; q = next) {
        next = q->hh.next;
        if (q->head)
            continue;
        HASH_DEL(o->queues, q);
        pool_give(&queues, q);
    }
    o->empty_queues = 0;
}

void queue_put(struct offcpu *o, struct sleeper *t, const struct off_object *object)
{
    struct off_object key = {.kind = object->kind, .a = object->a, .b = object->b};
    struct queue *q;

    HASH_FIND(hh, o->queues, &key, sizeof key, q);
    if (!q) {
        q = pool_take(&queues);
        *q = (struct queue){.key = key};
        HASH_ADD(hh, o->queues, key, sizeof q->key, q);
    } else if (!q->head) {
        o->empty_queues--;
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

void queue_leave(struct offcpu *o, struct sleeper *t)
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
    if (!q->head && ++o->empty_queues > EMPTY_MOST)
        queues_drop_empty(o);
}

void waiting_begin(struct offcpu *o, struct sleeper *t)
{
    struct waiting *w;

    t->wait = waiting_class(t->s.nr);
    t->resolved = false;
    t->s.object = (struct off_object){.kind = OFF_ON_NOTHING};
    t->s.set_size = t->nset = 0;
    if (t->wait == WAIT_NOT)
        return;
    w = &o->waiting[t->wait];
    o->writers += t->wait == WAIT_FD && wake_direction_of_sleep(t->s.nr) & WAKE_ROOM;
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

void waiting_end(struct offcpu *o, struct sleeper *t)
{
    struct waiting *w = &o->waiting[t->wait];

    if (t->wait == WAIT_NOT)
        return;
    o->writers -= t->wait == WAIT_FD && wake_direction_of_sleep(t->s.nr) & WAKE_ROOM;
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

void waiting_clear(struct sleeper *t)
{
    while (t->ngot)
        wake_unref(t->got[--t->ngot]);
    wake_unref(t->closer);
    t->closer = NULL;
}

void waiting_resolve(struct offcpu *o, struct sleeper *t)
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
    GROW_TO(t->set, set.n, t->set_room);
    memcpy(t->set, set.members, set.n * sizeof *t->set);
    for (size_t i = 1; i < set.n && sorted; i++)
        sorted = off_order(&t->set[i - 1], &t->set[i]) <= 0;
    if (!sorted)
        qsort(t->set, t->nset, sizeof *t->set, off_order);
}

/* Resolves in order of entry, so that the queues are in that order too. */
void waiting_resolve_all(struct offcpu *o, enum wait_class class)
{
    struct waiting *w = &o->waiting[class];

    for (; w->unresolved; w->unresolved = w->unresolved->next) {
        struct sleeper *t = w->unresolved;

        waiting_resolve(o, t);
        if (class != WAIT_SET && t->s.object.kind != OFF_ON_NOTHING)
            queue_put(o, t, &t->s.object);
    }
}

struct queue *queue_find(struct offcpu *o, const struct off_object *object)
{
    struct off_object key = {.kind = object->kind, .a = object->a, .b = object->b};
    struct queue *q;

    HASH_FIND(hh, o->queues, &key, sizeof key, q);
    return q;
}
