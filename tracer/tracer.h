/*
 * tracer.h: one run of the off-CPU tracer, from launch or attach to the trace.
 *
 * A process of its own does the tracing, a child of the caller, for two reasons. A tracer that
 * ends lets go of its threads without stopping them, which is the only way to leave a thread
 * that sleeps in epoll_wait without an EINTR. And if the tracer crashes, what it has written
 * is still there for the caller to draw.
 */
#ifndef FLAME_TRACER_TRACER_H
#define FLAME_TRACER_TRACER_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/compiler.h"

struct tracer_options {
    char **argv;       /* to launch; NULL: attach */
    const pid_t *pids; /* to attach to: all threads of each */
    size_t npids;
    const char *trace_path; /* absolute; must not exist */
    uint64_t duration_ns;   /* 0: until the end, or a signal */
    unsigned hz;            /* on-CPU samples a second; 0: none */
    uint64_t min_block_ns, max_block_ns;
    unsigned chain_depth;
    unsigned depth;      /* frames of a stack */
    bool no_filter;      /* launch without seccomp: slower, but set-user-id programs work and one
                            can leave early (implied by a duration) */
    bool no_follow;      /* leave alone the processes it starts */
    const char *preload; /* what LD_PRELOAD is to be in a command; NULL: what it is here */
    const char *inside;  /* the same with libflamewait.so before it: threads note calls of theirs
                            where they can; NULL: all calls stop */
    const char *setting; /* "NAME=VALUE" for the command's environment; NULL: none */
    bool recorder;       /* libflamemem.so is in what is preloaded: what it does is not told as the
                            program's doing */
    bool objects;        /* keep the numbers in the names of objects */
    bool kernel;         /* kernel stacks, where permitted; a line says so where they are not */
    bool no_stops;     /* attach without stopping anybody (tracer/nostop/nostop.h): min_block_ns is
                          from when on sleeps are looked at, hz must be 0 */
    bool quiet;        /* do not tell a terminal that tracing has begun */
    uint64_t max_disk; /* bytes that the trace may take of the disk; 0: any number */
    uint64_t lanes;    /* bytes of the trace for when each wait was; 0: that is not noted */
};

struct tracer_result {
    int wait_status; /* of the command; 0 when attached; SIGTERM if it runs on in spite of one */
    uint64_t elapsed_ns;   /* from the first instruction traced to the end */
    bool left_early;       /* by duration or signal while it ran */
    pid_t runs_on;         /* the command, left by a duration or after SIGTERM; not our child */
    bool crashed;          /* the tracer was; a line said so, and the trace ends there */
    bool cut;              /* somebody cut the trace short while it was written */
    uint64_t max_resident; /* bytes: the largest of the command and of those it waited for */
};

struct tracer;

/*
 * Starts the tracing process: 0 and *out, for tracer_end, which must follow; or an enum flame_exit
 * after one line on standard error. The caller may do something else meanwhile, with threads as
 * well, which are best made afterwards: until then this process is copied. `o` and what it points
 * to are needed until tracer_end. SIGINT, SIGTERM and SIGHUP end the tracing of processes that were
 * attached to. When a command was launched, they are treated as common/signals/signal_forward.h
 * says; if it has not ended within a second of SIGTERM, it is left running, after a line that says
 * so. One at a time in a process.
 */
int tracer_begin(const struct tracer_options *o, struct tracer **out);

/* Waits until it is over. 0, or an enum flame_exit after a line: FLAME_USAGE for what the user can
 * mend (no such process, not permitted, already traced, no seccomp). */
int tracer_end(struct tracer *t, struct tracer_result *r);

#endif
