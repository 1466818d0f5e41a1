/*
 * tracer.h: one run of the off-CPU tracer, from launch or attach to the trace.
 *
 * A separate process does the tracing, a child of the caller, for two reasons. When a tracer ends,
 * the kernel detaches its threads without stopping them. That is the only way to detach from a
 * thread that sleeps in epoll_wait without an EINTR. And if the tracer crashes, the trace that it
 * has written so far still exists, and the caller can draw it.
 */
#ifndef FLAME_TRACER_TRACER_H
#define FLAME_TRACER_TRACER_H

#include <stdbool.h>
#include <stdint.h>
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
    unsigned depth; /* frames of a stack */
    bool no_filter; /* launch without seccomp: slower, but set-user-id programs work and the tracing
                       can end before the command (implied by a duration) */
    bool no_follow; /* do not trace the processes it starts */
    const char *preload;        /* LD_PRELOAD of the command; NULL: the caller's own */
    const char *inproc_preload; /* `preload` with libflamewait.so before it: threads log calls of
                           theirs where possible; NULL: all calls stop */
    const char *setting;        /* "NAME=VALUE" for the command's environment; NULL: none */
    bool recorder; /* libflamemem.so is in `preload`: its own calls are not reported as the
                      program's */
    uintptr_t agent, agent_end; /* addresses of the code of inject/'s agent in the process,
                                   likewise; 0: it has none */
    bool no_python;             /* stacks have no functions of Python */
    bool objects;               /* numbers stay in the names of objects */
    bool kernel;   /* kernel stacks, where permitted; where they are not, a line reports it */
    bool no_stops; /* attach without stopping any thread (tracer/nostop/nostop.h): min_block_ns is
                      the length from which sleeps are sampled, hz must be 0 */
    bool quiet;    /* do not report on a terminal that tracing has begun */
    uint64_t max_disk; /* bytes of disk that the trace may use; 0: no limit */
    uint64_t lanes;    /* bytes of the trace for the times of waits; 0: these are not recorded */
    uint64_t last_ns;  /* length of the last part whose times of waits are kept; 0: all are */
    struct sleep_watch *watch; /* shared memory (sleep_watch.h); NULL: no sleeps are noted */
};

struct tracer_result {
    int wait_status; /* of the command; 0 when attached; SIGTERM if it still runs in spite of one */
    uint64_t elapsed_ns; /* from the first instruction traced to the end */
    bool left_early;     /* the tracing ended by duration or signal while the command ran */
    pid_t runs_on; /* the command, which still runs after a duration or SIGTERM; not our child */
    bool crashed;  /* the tracer crashed; a line reported it, and the trace ends there */
    bool cut;      /* another process truncated the trace while it was written */
    uint64_t max_resident; /* bytes: the largest of the command and of those it waited for */
};

struct tracer;

/*
 * Starts the tracing process: 0 and *out, for tracer_end, which must follow; or an enum flame_exit
 * after one line on standard error. The caller may do other work meanwhile, with threads as well.
 * It should make them after this call, because this process is copied in it. `o` and the memory it
 * points to are needed until tracer_end. SIGINT, SIGTERM and SIGHUP end the tracing of attached
 * processes. Signals for a launched command: see common/signals/signal_forward.h. If the command
 * has not ended within a second of SIGTERM, it is left running, after a line that reports it. One
 * tracer at a time in a process.
 */
int tracer_begin(const struct tracer_options *o, struct tracer **out);

enum tracer_state {
    TRACER_BEGINS, /* it attaches */
    TRACER_TRACES,
    TRACER_OVER, /* tracer_end does not wait any more */
};

/* For processes that are attached to: waits until the state changes, for `ns` at most, or until a
 * signal has been handled. */
enum tracer_state tracer_poll(struct tracer *t, uint64_t ns);

/* Ends the tracing of attached processes, as SIGTERM does. To be called before tracer_end. */
void tracer_request_end(const struct tracer *t);

/* Waits until the tracing is over. 0, or an enum flame_exit after a line: FLAME_USAGE for errors
 * that the user can correct (no such process, not permitted, already traced, no seccomp). */
int tracer_end(struct tracer *t, struct tracer_result *r);

#endif
