/*
 * wake_call.h: what waiting.c, wakers.c and thread_exit.c share: the queues, and one waking
 * call on its way to those it may have woken.
 */
#ifndef FLAME_TRACER_SLEEPS_WAKE_CALL_H
#define FLAME_TRACER_SLEEPS_WAKE_CALL_H

#include "tracer/sleeps/machine.h"

/* ---- waiting.c ---- */

enum wait_class waiting_class(int nr);
/* Finds out what every thread of a class waits on. The threads are asked in the order in which
 * they began to wait, so each queue has its threads in that order, too. */
void waiting_resolve_all(struct offcpu *o, enum wait_class class);
void queue_put(struct offcpu *o, struct sleeper *t, const struct off_object *object);
void queue_leave(struct offcpu *o, struct sleeper *t);
struct queue *queue_find(struct offcpu *o, const struct off_object *object);

/* ---- wakers.c ---- */

/* One waking call; its record is made when the first sleeper is found. */
struct wake_call {
    struct offcpu *o;
    struct sleeper *waker;
    uint64_t time;
    struct wake *made;
    unsigned roles; /* enum role */
    bool found;     /* somebody it may have woken */
};

/* The record of the waking call. It is lent: whoever keeps it takes a reference. */
struct wake *wake_call_wake(struct wake_call *g);
/* Notes that the call may have woken `t`. Which of several did is decided when `t` goes on. */
void wake_call_may_wake(struct wake_call *g, struct sleeper *t);
/* Notes that the call, which acts on the object, may have woken those that poll it. */
void wake_call_give_sets(struct wake_call *g, const struct off_object *object);
/* Adds a reference to `w` to what may have woken `t`. Of many the first and the latest are kept. */
void sleeper_add_wake(struct sleeper *t, struct wake *w);
/* What the waker's call with these arguments acts on. */
struct off_object wake_call_object(struct wake_call *g, int nr, const uint64_t args[6]);
/* Whether a waking call made at end `from` of a thing reaches a thread that sleeps at end `to`:
 * what is done at one end is felt at the other, and a hangup at both. 0: the end is not known,
 * or the thing has none. */
bool wake_call_reaches(const struct wake_call *g, unsigned from, unsigned to);
/* Whether every change of such an object wakes all that wait for it, to look again. Of other
 * objects one call wakes a number of threads. */
bool object_wakes_all(enum off_object_kind kind);

/* ---- holders.c ---- */

/* The waker's process ends, or runs another program, and closes what it has open. */
void holders_close(struct wake_call *g, bool by_exec);

#endif
