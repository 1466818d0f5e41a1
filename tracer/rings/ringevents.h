/*
 * ringevents.h: what threads noted of their calls (inside/read/rings.h) as plain events (event.h).
 *
 * The second source of events beside ptrace. It is pure: records and signals go in, events come
 * out. What is different about it:
 *
 * - A call that a signal interrupts is not seen to end before the handler runs. So ptrace's event
 * of the signal is to come through here (ringevents_signal); it is told behind the end of the call,
 * if that turns out to be interrupted, with the time of the signal. Calls of the handler end it as
 *   well; if it goes on when the handler is done, that is told when it ends, as a restarted call.
 * - Whether the thread left its CPU to sleep is known: of a call in which it did not, the end says
 *   so (off_event.ran_on).
 * - Most calls do not sleep, and have ended when they are told. Of such a call no end is told, and
 *   nothing at all if it has failed or can wake nobody.
 * - A child of vfork runs on its parent's memory and writes into its ring. Between ringevents_lend
 * and ringevents_back those calls are the child's.
 *
 * Not thread-safe. Allocates.
 */
#ifndef FLAME_TRACER_RINGS_RINGEVENTS_H
#define FLAME_TRACER_RINGS_RINGEVENTS_H

#include "inside/read/rings.h"
#include "tracer/sleeps/event.h"

struct ringevents;

struct ringevents_client {
    void *arg;
    /* `stack`: of ring_call, for entries and exits; else 0. */
    void (*event)(void *arg, const struct off_event *e, uint32_t stack);
};

struct ringevents *ringevents_new(const struct ringevents_client *client);
void ringevents_free(struct ringevents *r);

/* A record: RING_ENTERED, RING_LEFT or RING_DELAYED. */
void ringevents_record(struct ringevents *r, enum ring_result what, const struct ring_reader *from);

/* A signal is about to be delivered (OFF_SIGNAL). True: it was taken, and is told when it is known
 * what came of the call that the thread is in. Else it is the caller's to tell, now. */
bool ringevents_signal(struct ringevents *r, const struct off_event *e);

/*
 * Another event of the thread, which stopped for it, is about to be told. If it begins or ends a
 * call, a handler makes that, and what the thread was in is interrupted. True: it is not to be
 * told, but for what it held the thread, which goes with the next event: a sample of a thread that
 * has come out of a call and not noted that yet would take the call's time for its own.
 */
bool ringevents_stopped(struct ringevents *r, const struct off_event *e);

/* What the thread `parent` writes is of `child`, a process of its own, until ringevents_back. */
void ringevents_lend(struct ringevents *r, pid_t parent, pid_t child);
void ringevents_back(struct ringevents *r, pid_t parent);

/* The thread has ended, or runs another program: what it was in is over. */
void ringevents_gone(struct ringevents *r, pid_t tid);

#endif
