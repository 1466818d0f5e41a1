/*
 * nostop_state.h: the state that the files of the no-stop source share: nostop.c (the loop,
 * beginnings and ends), sleeper_sample.c (samples of sleeping threads), switch_feed.c (threads that
 * leave and reach a processor).
 */
#ifndef FLAME_TRACER_NOSTOP_NOSTOP_STATE_H
#define FLAME_TRACER_NOSTOP_NOSTOP_STATE_H

#include "tracer/nostop/switch_intervals.h"
#include "tracer/nostop/nostop.h"
#include "tracer/nostop/switchrings.h"
#include "tracer/offcpu/idhash.h"

/* State of a thread when it was sampled. */
enum nostop_found {
    NOSTOP_NOT_LOOKED,
    NOSTOP_AWAKE,   /* it had been woken by then, and is in the run queue */
    NOSTOP_IN_CALL, /* asleep in `call` */
    NOSTOP_FAULTS,  /* asleep outside of calls */
    NOSTOP_STOPPED, /* by job control or a debugger */
};

struct nostop_thread {
    pid_t tid, pid;
    struct switch_interval nap;

    /* The sample of the present sleep: */
    enum nostop_found found;
    uint64_t since;  /* nap.left of that sleep */
    uint64_t looked; /* time of the sample */
    struct task_call call;
    bool from_begin; /* it slept already when the trace began */

    struct off_sched at;      /* its scheduler figures at the last reading */
    uint64_t ran_at, wait_at; /* nap.ran_ns and nap.wait_ns at the reading `at` */

    struct off_unsampled passed; /* unsampled sleeps, not emitted yet */
    uint64_t flushed;            /* when `passed` was emitted last */

    /* Where the kernel gives no records: */
    struct off_sched before; /* its scheduler figures at the last tick */
    uint64_t still;          /* time since which `before` has not changed */

    UT_hash_handle hh;
};

struct nostop {
    struct nostop_options opt;
    struct nostop_client client;
    struct nostop_thread *threads;
    struct switch_rings *rings; /* NULL: /proc is read instead */
    uint64_t tick_ns;
    uint64_t began, beat, listed; /* times: the beginning, last beat, last list of threads */
    uint64_t ticked;              /* time of the last tick */
    struct nostop_thread *next;   /* the next tick samples from this one on; NULL: from the first */
    bool over;
    struct nostop_counts counts;

    /* The event that is being emitted: its thread, and the thread's figures. */
    pid_t telling;
    struct off_sched figures;
};

/* ---- nostop.c ---- */

struct nostop_thread *nostop_find(struct nostop *q, pid_t tid);
/* Adds a thread; NULL: it is known already. `parent`: the thread that made it just now, or 0. */
struct nostop_thread *nostop_add(struct nostop *q, pid_t tid, pid_t pid, uint64_t time,
                                 pid_t parent);
void nostop_ends(struct nostop *q, struct nostop_thread *t, uint64_t time);
/* Emits an event of the thread, whose figures are `at` then. */
void nostop_emit(struct nostop *q, struct nostop_thread *t, struct off_event *e,
                 const struct off_sched *at);
/* Emits the unsampled sleeps up to `time`. */
void nostop_emit_passed(struct nostop *q, struct nostop_thread *t, uint64_t time,
                        const struct off_sched *at);
/* Reads the figures into t->at. False: the thread has ended. */
bool nostop_read(struct nostop *q, struct nostop_thread *t);
/* Figures at the end of the last recorded stay on a processor, by t->at and t->nap. */
struct off_sched nostop_reckon(const struct nostop_thread *t);
/* Whether the process is watched. */
bool nostop_watches(const struct nostop *q, pid_t pid);
/* Lists threads again and adds the new ones. */
void nostop_list(struct nostop *q, uint64_t now);

/* ---- sleeper_sample.c ---- */

/* Samples the threads that have slept long enough, until that has taken half a tick. */
void nostop_look_around(struct nostop *q, uint64_t now);
/* Handles the end of a time away from processors. */
void nostop_woke(struct nostop *q, struct nostop_thread *t,
                 const struct switch_interval_over *over);
/* The trace or the thread ends during a sleep: emits the beginning of that sleep. */
void nostop_sleeps_on(struct nostop *q, struct nostop_thread *t, uint64_t time);

/* ---- switch_feed.c ---- */

/* Finds the threads that have left or reached a processor. */
void nostop_feed(struct nostop *q, uint64_t now);

#endif
