/*
 * wake_call.h: the interface that waiting.c, wakers.c, holders.c, thread_exit.c and thread_kill.c
 * share: the queues, and one waking call with the sleepers it may have woken.
 */
#ifndef FLAME_TRACER_OFFCPU_WAKE_CALL_H
#define FLAME_TRACER_OFFCPU_WAKE_CALL_H

#include "tracer/offcpu/offcpu_state.h"

/* ---- waiting.c ---- */

enum wait_class waiting_class(int nr);
/* Resolves the object of every thread of a class, in the order in which the threads began to wait.
 * So each queue has its threads in that order, too. */
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
    unsigned roles; /* bits of enum wake_direction */
    bool found;     /* a sleeper it may have woken was found */
};

/* The record of the waking call. It is borrowed: take a reference to keep it. */
struct wake *wake_call_wake(struct wake_call *g);
/* Records that the call may have woken `t`. If several calls may have, the cause is decided when
 * `t` runs again. */
void wake_call_may_wake(struct wake_call *g, struct sleeper *t);
/* Records that the call, which acts on the object, may have woken the threads that poll it. */
void wake_call_give_sets(struct wake_call *g, const struct off_object *object);
/* Adds a reference to `w` to the wakes of `t`. If there are too many, only the first and the latest
 * stay. */
void sleeper_add_wake(struct sleeper *t, struct wake *w);
/* The object of the waker's call with these arguments. */
struct off_object wake_call_object(struct wake_call *g, int nr, const uint64_t args[6]);
/* Whether a waking call made at end `from` of an object reaches a thread that sleeps at end `to`.
 * An act at one end reaches the other, and a hangup reaches both. 0: the end is unknown, or the
 * object has no ends. */
bool wake_call_reaches(const struct wake_call *g, unsigned from, unsigned to);
/* Whether every change of such an object wakes all its waiters, to check again. For other objects
 * one call wakes a number of threads. */
bool object_wakes_all(enum off_object_kind kind);

/* ---- holders.c ---- */

/* Records that the waker's process ends, or runs another program, and so closes its descriptors. */
void holders_close(struct wake_call *g, bool by_exec);

#endif
