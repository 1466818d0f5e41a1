/*
 * sink.h: receiver of the state machine's results (offtrace.h; in unit tests a list).
 */
#ifndef FLAME_TRACER_OFFCPU_SINK_H
#define FLAME_TRACER_OFFCPU_SINK_H

#include "tracer/offcpu/offcpu_ops.h"

/* One link of a chain: the waker of the sleep before it. */
struct off_waker {
    pid_t tid;          /* 0: no traced thread, see pseudo */
    off_stack stack;    /* its stack in the waking call, with the call's frame. For a pseudo waker
                           after the first link: that of the sleep it ended. 0: unknown */
    const char *pseudo; /* "[timer]" and so on, when tid is 0; static, or lives as long as the
                           state machine */
};

#define OFF_CHAIN_MAX 32

struct off_sleep {
    pid_t tid, pid;
    uint64_t begin, end; /* ns, CLOCK_MONOTONIC */
    uint64_t blocked_ns; /* asleep; end - begin = blocked + runq + its CPU time in the call */
    uint64_t runq_ns;    /* in the run queue after the wake */
    uint64_t whole_ns;   /* blocked_ns + runq_ns, of all parts of the sleep together */
    off_stack stack;     /* without the call's frame */
    int nr;              /* the call */
    uint64_t args[6];
    int64_t result;
    struct off_object object;
    size_t set_size; /* members of an OFF_ON_SET */
    bool cut;        /* it began before the trace or ended after it */
    bool more;       /* an earlier part of the sleep reported just before, not another sleep */
    struct off_waker chain[OFF_CHAIN_MAX];
    size_t chain_len; /* 0: the waker is not known */
};

struct off_oncpu {
    pid_t tid, pid;
    off_stack stack; /* 0: the time was spent where no sample was taken */
    uint64_t cpu_ns;
    uint64_t runq_ns; /* in the run queue, outside of calls */
};

/* Kinds of other time of a thread: neither asleep in a call that is reported, nor running, nor in
 * the run queue. */
enum off_other_time {
    OFF_OTHER_TRACER,      /* stopped for the tracer */
    OFF_OTHER_STOPPED,     /* stopped by job control */
    OFF_OTHER_FAULT,       /* waited for pages, and other waits between two calls */
    OFF_OTHER_OUTSIDE,     /* off its CPU between two traced calls */
    OFF_OTHER_FILTERED,    /* in calls that are too short, or too long, to be reported */
    OFF_OTHER_TOO_SHORT,   /* slept, too shortly to be sampled (off_unsampled.too_short) */
    OFF_OTHER_NOT_SAMPLED, /* slept, and was not sampled in time */
    OFF_OTHER_ROOM,        /* waited until the tracer had read the ring */
    OFF_OTHER_TIMES
};

struct offcpu_output {
    void *arg;
    /* A sleep; or, one after another, its parts (lock_handoff.h), each with its own chain and time,
     * the latest part first. Returns the sleeper's stack with the call's frame, for later chains;
     * 0: none. */
    off_stack (*sleep)(void *arg, const struct off_sleep *s);
    void (*oncpu)(void *arg, const struct off_oncpu *s);
    void (*rest)(void *arg, pid_t tid, enum off_other_time kind, const struct off_span *s);
    /* The next `oncpu` and `rest` of this thread are for the time from `from` to `to`. May be
     * NULL. */
    void (*stretch)(void *arg, pid_t tid, uint64_t from, uint64_t to);
};

#endif
