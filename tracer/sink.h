/*
 * sink.h: what the state machine found out, for whoever keeps it (offtrace.h; unit
 * tests: a list).
 */
#ifndef FLAME_TRACER_SINK_H
#define FLAME_TRACER_SINK_H

#include "tracer/world.h"

/* One link of a chain: who ended the sleep before it. */
struct off_waker {
    pid_t tid;          /* 0: nobody that is traced */
    off_stack stack;    /* its stack in the waking call, with the call's frame; of a pseudo waker:
                           that of the sleep it ended, if another link's; 0: not known */
    const char *pseudo; /* "[timer]" and so on, when tid is 0; static, or lives as long as the
                           state machine */
};

#define OFF_CHAIN_MAX 32

struct off_sleep {
    pid_t tid, pid;
    uint64_t begin, end; /* ns, CLOCK_MONOTONIC */
    uint64_t blocked_ns; /* asleep; end - begin = blocked + runq + what it ran in the call */
    uint64_t runq_ns;    /* awake and waiting for a CPU */
    off_stack stack;     /* without the call's frame */
    int nr;              /* the call */
    uint64_t args[6];
    int64_t result;
    struct off_object object;
    size_t set_size; /* members of an OFF_ON_SET */
    bool cut;        /* it began before the trace or ended after it */
    struct off_waker chain[OFF_CHAIN_MAX];
    size_t chain_len; /* 0: not known who ended it */
};

struct off_oncpu {
    pid_t tid, pid;
    off_stack stack; /* 0: the time was spent where no sample was taken */
    uint64_t cpu_ns;
    uint64_t runq_ns; /* it wanted to run, outside of calls */
};

struct off_sink {
    void *arg;
    /* Returns the sleeper's stack with the call's frame, for chains it comes to be in; 0: none. */
    off_stack (*sleep)(void *arg, const struct off_sleep *s);
    void (*oncpu)(void *arg, const struct off_oncpu *s);
};

#endif
