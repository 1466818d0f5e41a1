/*
 * replayer.h: runs the state machine again over a log of its input (replaylog.h).
 *
 * The world answers from the log. Three things are errors: a question that the log does not have at
 * that point, a logged one that is not asked, and a line of no known kind. `line` and `wrong` are
 * of the first error. The machine is run on, with the answers that there are. Not thread-safe.
 */
#ifndef FLAME_TESTS_UNIT_REPLAYER_H
#define FLAME_TESTS_UNIT_REPLAYER_H

#include "tracer/offcpu/replaylog.h"

/* A thread in a call that may sleep, from its entry to its exit, from the log alone. */
struct replayed_call {
    pid_t tid;
    uint64_t begin, end;
    /* Parts of that time, at most: stopped by the tracer, waiting for a CPU, on one. */
    uint64_t held_ns, runq_ns, cpu_ns;
};

/* A thread's time from its beginning to its end, as the machine divides it. */
struct replayed_thread {
    pid_t tid;
    uint64_t begin, end;         /* end 0: it still runs */
    uint64_t asleep_ns, runq_ns; /* in sleeps */
    uint64_t cpu_ns, waited_ns;  /* from sink.oncpu */
    uint64_t rest_ns[OFF_OTHER_TIMES];
    /* These are from the log. */
    uint64_t exiting;         /* when it was about to end; 0: not reported */
    bool lost;                /* an exec of its process ended it: its last figures are not known */
    uint64_t held_ns;         /* stopped by the tracer since then */
    struct off_sched figures; /* the last */
    bool known;
    struct replayed_call call; /* it is in one if `in_call` */
    uint64_t call_turns;
    struct off_sched at_entry;
    bool in_call, entry_known;
};

struct replayed {
    struct strbuf
        text; /* a line for each sleep as they were emitted, and then one for each thread */
    struct off_sleep *sleeps;
    struct replayed_call *calls; /* in which the thread left its CPU by itself */
    struct replayed_thread *threads;
    size_t nsleeps, ncalls, nthreads;
    size_t line; /* line of the first error, from 1; 0: none */
    char wrong[160];
    bool elsewhere; /* the log is of another processor: call numbers differ */
    /* Allocated lengths, and storage of names: */
    size_t sleeps_room, calls_room, threads_room, nnames, names_room;
    char **names;
    uint64_t first; /* time of the first event */
};

/* Replays a log. *out is owned by the caller: replayed_release() frees it. */
void replay_run(struct replayed *out, const char *log, size_t len);
void replayed_release(struct replayed *r);

#endif
