/*
 * nostop.h: the event source that stops no thread, for running processes.
 *
 * The kernel records when threads leave a processor and reach one (switchrings.h). Where it refuses
 * that, /proc/TID/schedstat is read repeatedly, which shows the same to within about
 * NOSTOP_POLL_NS. A thread that has slept for a while is sampled in its sleep: its call
 * (/proc/TID/syscall), its stack, the object it waits for. A sample counts only if the thread has
 * not run meanwhile, by its count of turns on processors. So there is no ptrace, no stop and no
 * signal, and a debugger may trace the process at the same time.
 *
 * A sleep is emitted when it is over, as an OFF_ENTRY and an OFF_EXIT with the times it had. The
 * stacks of sleeps shorter than options.least_ns are not sampled. Those sleeps are emitted as sums
 * (OFF_UNSAMPLED), with those that could not be sampled in time. Other actions of threads are not
 * seen: no call that wakes another thread, and no result (OFF_RESULT_NOT_KNOWN).
 *
 * One source in a process (tracer/ptrace/control_signals.h). Not thread-safe. Allocates
 * (common/alloc.h).
 */
#ifndef FLAME_TRACER_NOSTOP_NOSTOP_H
#define FLAME_TRACER_NOSTOP_NOSTOP_H

#include <sys/types.h>

#include "tracer/offcpu/event.h"
#include "tracer/objects/proctask.h"

/* Period at which threads are read where the kernel gives no records. */
#define NOSTOP_POLL_NS 2000000u

struct nostop;

struct nostop_options {
    const pid_t *pids; /* processes whose threads are all watched */
    size_t npids;
    pid_t caller;         /* not to be watched */
    uint64_t duration_ns; /* 0: no limit */
    uint64_t least_ns;    /* shorter sleeps are not sampled; at least NOSTOP_LEAST_NS */
    bool no_follow;       /* do not watch the processes that these start */
};

/* Smallest least_ns: below it, samples would cost more than they are worth. */
#define NOSTOP_LEAST_NS 500000u

struct nostop_client {
    void *arg;
    void (*event)(void *arg, const struct off_event *e);
    /* The thread sleeps in this call. Reads the data about the sleep for an OFF_ENTRY, which may
     * follow before the next sample of this thread. */
    void (*look)(void *arg, pid_t tid, const struct task_call *call);
    /* The scheduler's figures of a thread whose beginning was emitted. */
    bool (*sched)(void *arg, pid_t tid, struct off_sched *out);
    /* The process may have mapped code. */
    void (*mapped)(void *arg, pid_t pid);
    void (*beat)(void *arg, uint64_t now); /* about every 100 ms */
};

/* Never fails. It is not freed: the tracing process ends with it. */
struct nostop *nostop_new(const struct nostop_options *o, const struct nostop_client *c);

/* Begins to watch: 0, or FLAME_USAGE after a line when a process does not exist or may not be
 * watched. Prints one more line if the kernel gives no records and /proc is read instead. */
int nostop_start(struct nostop *q);
/* Emits events until no thread is left, the time is over, or a signal ends it. Then the beginnings
 * of all present sleeps have been emitted. Returns 0. */
int nostop_run(struct nostop *q);

/* Whether any watched thread still exists after nostop_run. */
bool nostop_left(const struct nostop *q);

/* The scheduler's figures at the event that is being emitted, or the present ones. Turns are not
 * known. False: the figures cannot be read. */
bool nostop_sched(struct nostop *q, pid_t tid, struct off_sched *out);

struct nostop_counts {
    uint64_t reported;         /* sleeps, with their stacks */
    struct off_unsampled not ; /* of all others */
    uint64_t lost;             /* records of the kernel's that were lost for lack of room */
    bool polled;               /* /proc was read: `not` has sums and no counts */
};

struct nostop_counts nostop_counts(const struct nostop *q);

#endif
