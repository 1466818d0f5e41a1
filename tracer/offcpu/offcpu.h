/*
 * offcpu.h: makes sleeps of events. It is a pure state machine, without ptrace, /proc or a clock:
 * it queries all other facts by struct offcpu_ops (offcpu_ops.h), and emits its results to its sink
 * (sink.h).
 *
 * Times. A sleep lasts from entry to exit, less the time for which job control stopped it. The
 * scheduler's figures at both ends (ops.sched, called at each entry and at the exit of a sleep of
 * min_block or more, 0.7 us each) split that into blocked, run-queue wait and running. Leaving the
 * entry's stop costs the thread one run on a CPU and a run-queue wait before it. So a call in which
 * it was put on a CPU once did not sleep and is not reported. The mean run-queue wait of such calls
 * is the tracer's own, and is subtracted from that of calls that slept. Time on CPUs is emitted to
 * the sink with samples, or each second and at the end without. Time in calls that were too short
 * is part of it.
 *
 * The cause of a sleep's end is the first rule that fits:
 *   0. The sleeper itself was ended in it: see thread_kill.c for the thread that ended it; else as
 *      in 1.
 *   1. It ended by a signal: the sender; [timer], [terminal], [kernel], a child's end, by the
 *      signal's code; else [signal].
 *   2. It timed out: [timer].
 *   3. A call of another traced thread, made during the sleep, on the same object:
 *      - Futexes, pipes, sockets, queues: a wake goes to as many waiters as it wakes, in order of
 *        their entry. No waiter gets two. A sleeper's first wake counts (or, if the sleeper ran
 *        only 20 ms after it, the last before that). If a thread got a wake and returned an
 *        error, the wake passes to the next waiter. A thread that returns without a wake takes
 *        it from the first that has one.
 *      - Poll sets, System V semaphores, file locks: all waiters get the wake. The latest one
 *        before the end of the sleep, without its run-queue wait, counts.
 *      - Reads match writes and writes match reads, on sockets those of the other end; closing
 *        matches both.
 *      - Or a wake that was under way when the sleep began, by a thread that has done nothing
 *        since (then without a stack).
 *      - The end of a process, or its exec, if it had the object open and the result is the end of
 *        a file or a lock (holders.c).
 *   4. It read the end of a file, and no traced thread closed it: [closed].
 *   5. The end of a child or of a thread that is joined: its last stack, or [exited].
 *   6. By the object: [disk], [network], [terminal], [timer], the process known to have the other
 *      end ([untraced: comm]), [unknown].
 *
 * Chains: see chain.h. Waits that are split among several holders of the object: lock_handoff.h.
 *
 * Not thread-safe. Memory: as needed for each traced thread; it does not grow with time.
 */
#ifndef FLAME_TRACER_OFFCPU_OFFCPU_H
#define FLAME_TRACER_OFFCPU_OFFCPU_H

#include "tracer/offcpu/sink.h"

struct offcpu;

struct offcpu_options {
    uint64_t min_block_ns; /* shorter (or longer) sleeps are not reported */
    uint64_t max_block_ns; /* 0: no limit */
    unsigned chain_depth;  /* links in a chain, 1 to OFF_CHAIN_MAX */
    bool unstopped; /* the source stops no thread: the rest of a thread's time between sleeps is
                       unsampled sleeps */
};

struct offcpu *offcpu_new(const struct offcpu_options *opt, const struct offcpu_ops *world,
                          const struct offcpu_output *sink);
void offcpu_free(struct offcpu *o);

void offcpu_event(struct offcpu *o, const struct off_event *e);

/* The trace ends now: unfinished sleeps are reported up to here, marked as cut. */
void offcpu_finish(struct offcpu *o, uint64_t now);

#endif
