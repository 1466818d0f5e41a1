/*
 * ringevents.h: plain events (event.h) from the calls that threads log
 * (inproc/reader/ring_reader.h).
 *
 * It is a source of events beside ptrace, and it is pure: records and signals go in, events come
 * out. It differs from ptrace in these ways:
 *
 * - A call that a signal interrupts is not seen to end before the handler runs. So ptrace's event
 *   of the signal must come through here (ringevents_signal). If the call turns out to be
 *   interrupted, the signal is emitted after the end of the call, with the time of the signal.
 *   Calls of the handler end it as well. If the call continues after the handler, that is emitted
 *   when it ends, as a restarted call.
 *
 * - It is known whether the thread left its CPU to sleep: if it did not, the end of the call says
 *   so (off_event.ran_on).
 *
 * - Most calls do not sleep, and have ended when they are read. No end is emitted for such a call,
 *   and no event at all if it has failed or can wake no thread.
 *
 * - A child of vfork runs on its parent's memory and writes into its parent's ring. Between
 *   ringevents_lend and ringevents_back those calls are the child's.
 *
 * Not thread-safe. Allocates.
 */
#ifndef FLAME_TRACER_INPROC_RINGEVENTS_H
#define FLAME_TRACER_INPROC_RINGEVENTS_H

#include "inproc/reader/ring_reader.h"
#include "tracer/offcpu/event.h"

struct ringevents;

struct ringevents_client {
    void *arg;
    /* `stack`: of ring_call, for entries and exits; else 0. */
    void (*event)(void *arg, const struct off_event *e, uint32_t stack);
};

struct ringevents *ringevents_new(const struct ringevents_client *client);
void ringevents_free(struct ringevents *r);

/* Handles a record: RING_ENTERED, RING_LEFT or RING_DELAYED. */
void ringevents_record(struct ringevents *r, enum ring_result what, const struct ring_reader *from);

/* Takes a signal that is about to be delivered (OFF_SIGNAL). True: it was taken, and is emitted
 * once the result of the thread's present call is known. Else the caller must emit it now. */
bool ringevents_signal(struct ringevents *r, const struct off_event *e);

/*
 * Handles another event of the thread, which stopped for it, before it is emitted. If the event
 * begins or ends a call, a handler makes that call, and the thread's present call is interrupted.
 * True: the event must not be emitted; its stopped time is added to the next event. That concerns a
 * sample of a thread that has left a call and not logged that yet: the sample would claim the
 * call's time.
 */
bool ringevents_stopped(struct ringevents *r, const struct off_event *e);

/* The records of thread `parent` belong to `child`, a process of its own, until ringevents_back. */
void ringevents_lend(struct ringevents *r, pid_t parent, pid_t child);
void ringevents_back(struct ringevents *r, pid_t parent);

/* The thread has ended, or runs another program: its open calls are over. */
void ringevents_gone(struct ringevents *r, pid_t tid);

#endif
