/*
 * giving.h: what waiting.c, wakers.c and partings.c share: the queues, and one waking
 * call on its way to those it may have woken.
 */
#ifndef FLAME_TRACER_GIVING_H
#define FLAME_TRACER_GIVING_H

#include "tracer/machine.h"

/* ---- waiting.c ---- */

enum wait_class waiting_class(int nr);
/* Resolves all of a class, in order of entry, so that the queues are. */
void waiting_resolve_all(struct offcpu *o, enum wait_class class);
void queue_put(struct offcpu *o, struct thread *t, const struct off_object *object);
void queue_leave(struct offcpu *o, struct thread *t);
struct queue *queue_find(struct offcpu *o, const struct off_object *object);

/* ---- wakers.c ---- */

/* One waking call; its record is made when the first sleeper is found. */
struct giving {
    struct offcpu *o;
    struct thread *waker;
    uint64_t time;
    struct wake *made;
    unsigned roles; /* enum role */
    bool found;     /* somebody it may have woken */
};

/* Its record; a new reference is the caller's to take. */
struct wake *giving_wake(struct giving *g);
void give(struct giving *g, struct thread *t);
void give_wake(struct thread *t, struct wake *w);
/* What the waker's call with these arguments acts on. */
struct off_object giving_object(struct giving *g, int nr, const uint64_t args[6]);
/* Does what one end does with the thing reach who sleeps at that end? */
bool giving_reaches(const struct giving *g, unsigned from, unsigned to);
/* All who wait for one look again at each change of it; none is picked. */
bool wakes_all(enum off_object_kind kind);

#endif
