/*
 * offcpu.h: makes sleeps of events. It is a pure state machine, without ptrace, /proc or a
 * clock: it asks its world (offcpu_ops.h) what it needs to know, and gives its sink (sink.h) what
 * it finds.
 *
 * Times. A sleep lasts from entry to exit, less what job control stopped of it. With the
 * scheduler's figures of both ends (world.sched, asked at each entry and at the exit of a
 * sleep of min_block or more, 0.7 us each) that is split into asleep, waiting for a CPU
 * and running. Leaving the entry's stop costs the thread one run on a CPU and a wait for
 * it: a call in which it was put on a CPU once did not sleep and is not reported, and the
 * mean wait of such calls is taken off the wait of those that did, as the tracer's own.
 * Time on CPUs goes to the sink with samples, or each second and at the end without;
 * time in calls that were too short is part of it.
 *
 * Who ended a sleep, first rule that fits:
 *   0. the sleeper itself was ended in it: by whom, see thread_kill.c; else as in 1
 *   1. it ended by a signal: who sent that; [timer], [terminal], [kernel], a child's end,
 *      by the signal's code; else [signal]
 *   2. its time ran out: [timer]
 *   3. a call of another traced thread, made while it slept, on the same object:
 *      - futexes, pipes, sockets, queues: each wake goes to those that wait, in order of
 *        their entry, as many as it wakes, and to nobody twice; the first a sleeper got
 *        counts (or, if the sleeper ran only 20 ms after it, the last before that). A wake
 *        given to one that did not take it (it returned an error) goes on to the next, and
 *        one that returns without a wake takes it from the first that has one;
 *      - poll sets, System V semaphores, file locks: all that wait get it, and the latest
 *        before the exit less the wait for a CPU counts;
 *      - reads answer writes and writes reads; on sockets those of the other end; closing
 *        answers both;
 *      - or a wake on its way when the sleep began, by a thread that has done nothing
 *        since (then without a stack)
 *      - the end of a process, or its exec, where it had open what was waited for, if the result
 *        is the end of a file or a lock (holders.c)
 *   4. it read the end of a file, and nobody traced closed it: [closed]
 *   5. the end of a child or of a thread that is joined: its last stack, or [exited]
 *   6. by the object: [disk], [network], [terminal], [timer], who is known to hold the
 *      other end ([untraced: comm]), [unknown]
 *
 * Chains: see chain.h; waits that are split among several who had what was waited for:
 * lock_handoff.h.
 *
 * Not thread-safe. Memory: what is needed for each traced thread, nothing that grows
 * with time.
 */
#ifndef FLAME_TRACER_OFFCPU_OFFCPU_H
#define FLAME_TRACER_OFFCPU_OFFCPU_H

#include "tracer/offcpu/sink.h"

struct offcpu;

struct offcpu_options {
    uint64_t min_block_ns; /* sleeps shorter (or longer) than these are not reported */
    uint64_t max_block_ns; /* 0: no limit */
    unsigned chain_depth;  /* links kept, 1 to OFF_CHAIN_MAX */
    bool unstopped;        /* the source stops nobody: what is left of a thread's time between
                              sleeps is sleeps that nobody looked at */
};

struct offcpu *offcpu_new(const struct offcpu_options *opt, const struct offcpu_ops *world,
                          const struct offcpu_output *sink);
void offcpu_free(struct offcpu *o);

void offcpu_event(struct offcpu *o, const struct off_event *e);

/* The trace ends now: sleeps that go on are reported up to here, marked as cut. */
void offcpu_finish(struct offcpu *o, uint64_t now);

#endif
