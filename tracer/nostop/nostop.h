/*
 * nostop.h: the source of events that stops nobody, for processes that run.
 *
 * When threads leave their processors and come to one the kernel tells (switchrings.h); where it
 * refuses that, /proc/TID/schedstat is read again and again, which says the same to about
 * NOSTOP_POLL_NS. A thread that has slept for a while is looked at in its sleep: which call it is
 * in
 * (/proc/TID/syscall), its stack, what it waits for. That counts if the thread has not moved
 * meanwhile, by the number of its turns on processors. So there is no ptrace, no stop and no
 * signal; a debugger may hold the process at the same time.
 *
 * Sleeps are told when they are over, as an OFF_ENTRY and an OFF_EXIT with the times they had. Of
 * those shorter than options.least_ns nobody looks at the stack; they are told as sums
 * (OFF_UNSAMPLED), with those that could not be looked at in time. What a thread does besides is
 * not seen: no call that wakes another, and no result (OFF_RESULT_NOT_KNOWN).
 *
 * One in a process (tracer/ptrace/control_signals.h). Not thread-safe. Allocates (common/alloc.h).
 */
#ifndef FLAME_TRACER_NOSTOP_NOSTOP_H
#define FLAME_TRACER_NOSTOP_NOSTOP_H

#include <sys/types.h>

#include "tracer/offcpu/event.h"
#include "tracer/objects/proctask.h"

/* Without the kernel's word, threads are looked at so often. */
#define NOSTOP_POLL_NS 2000000u

struct nostop;

struct nostop_options {
    const pid_t *pids; /* to be watched: all threads of each */
    size_t npids;
    pid_t caller;         /* not to be watched */
    uint64_t duration_ns; /* 0: no limit */
    uint64_t least_ns;    /* shorter sleeps are not looked at; at least NOSTOP_LEAST_NS */
    bool no_follow;       /* leave alone the processes that they start */
};

/* With less, the looks would cost more than they tell. */
#define NOSTOP_LEAST_NS 500000u

struct nostop_client {
    void *arg;
    void (*event)(void *arg, const struct off_event *e);
    /* The thread sleeps in this call: reads what will have to be known of the sleep, to be told of
       an OFF_ENTRY that follows before the next look at this thread, if one does. */
    void (*look)(void *arg, pid_t tid, const struct task_call *call);
    /* The scheduler's figures of a thread whose beginning was told. */
    bool (*sched)(void *arg, pid_t tid, struct off_sched *out);
    /* The process may have mapped code. */
    void (*mapped)(void *arg, pid_t pid);
    void (*beat)(void *arg, uint64_t now); /* about every 100 ms */
};

/* Never fails. It is not freed: the tracing process ends with it. */
struct nostop *nostop_new(const struct nostop_options *o, const struct nostop_client *c);

/* Begins to watch: 0, or FLAME_USAGE after a line when a process is not there or may not be
 * watched. One more line says so if the kernel does not tell and /proc is read instead. */
int nostop_start(struct nostop *q);
/* Tells events until nothing is left, the time is over, or a signal ends it. Then all sleeps that
 * go on have been told to begin. 0. */
int nostop_run(struct nostop *q);

/* Whether somebody is still there after nostop_run. */
bool nostop_left(const struct nostop *q);

/* The scheduler's figures as they were at the event that is being told, or as they are now. Turns
 * are not known. False: they cannot be had. */
bool nostop_sched(struct nostop *q, pid_t tid, struct off_sched *out);

struct nostop_counts {
    uint64_t reported;         /* sleeps, with their stacks */
    struct off_unsampled not ; /* of all others */
    uint64_t lost;             /* records of the kernel's that found no room */
    bool polled;               /* /proc was read: `not` has sums and no counts */
};

struct nostop_counts nostop_counts(const struct nostop *q);

#endif
