/*
 * quiet_state.h: what the files of the quiet source share: quiet.c (the loop, beginnings and ends),
 * quietlook.c (looks at sleeping threads), quietfeed.c (who left a processor and came to one).
 */
#ifndef FLAME_TRACER_QUIET_QUIET_STATE_H
#define FLAME_TRACER_QUIET_QUIET_STATE_H

#include "tracer/quiet/quietnap.h"
#include "tracer/quiet/quiet.h"
#include "tracer/quiet/switchrings.h"
#include "tracer/sleeps/idhash.h"

/* What a look found a thread in. */
enum quiet_found {
    QUIET_NOT_LOOKED,
    QUIET_AWAKE,   /* it had been woken by then, and waits for a processor */
    QUIET_IN_CALL, /* asleep in `call` */
    QUIET_FAULTS,  /* asleep outside of calls */
    QUIET_STOPPED, /* by job control or a debugger */
};

struct quiet_thread {
    pid_t tid, pid;
    struct nap nap;

    /* The look at the present sleep: */
    enum quiet_found found;
    uint64_t since;  /* nap.left of that sleep */
    uint64_t looked; /* when */
    struct task_call call;
    bool from_begin; /* it slept when the trace began */

    struct off_sched at;      /* the last reading, */
    uint64_t ran_at, wait_at; /* nap.ran_ns and nap.wait_ns then */

    struct off_unlooked passed; /* not told yet */
    uint64_t flushed;           /* when it was told last */

    /* Where the kernel does not tell: */
    struct off_sched before; /* the reading of the last tick, */
    uint64_t still;          /* and since when it has not moved */

    UT_hash_handle hh;
};

struct quiet {
    struct quiet_options opt;
    struct quiet_client client;
    struct quiet_thread *threads;
    struct switch_rings *rings; /* NULL: /proc is read */
    uint64_t tick_ns;
    uint64_t began, beat, listed; /* when: the trace, the last beat, the last list of threads */
    uint64_t ticked;              /* the last tick */
    struct quiet_thread *next;    /* whom the next tick looks at first; NULL: the first */
    bool over;
    struct quiet_counts counts;

    /* The event that is being told: */
    pid_t telling;
    struct off_sched figures;
};

/* ---- quiet.c ---- */

struct quiet_thread *quiet_find(struct quiet *q, pid_t tid);
/* A thread is there; NULL: it was already. `parent`: the one that made it just now, or 0. */
struct quiet_thread *quiet_add(struct quiet *q, pid_t tid, pid_t pid, uint64_t time, pid_t parent);
void quiet_ends(struct quiet *q, struct quiet_thread *t, uint64_t time);
/* Tells an event of the thread, whose figures are `at` then. */
void quiet_tell(struct quiet *q, struct quiet_thread *t, struct off_event *e,
                const struct off_sched *at);
/* Tells what passed up to `time` and was not looked at. */
void quiet_tell_passed(struct quiet *q, struct quiet_thread *t, uint64_t time,
                       const struct off_sched *at);
/* Reads the figures into t->at. False: they cannot be had, as the thread has ended. */
bool quiet_read(struct quiet *q, struct quiet_thread *t);
/* The figures at the end of the last stay on a processor that was told, by t->at and t->nap. */
struct off_sched quiet_reckon(const struct quiet_thread *t);
/* Whether the process is one of those that are watched. */
bool quiet_watches(const struct quiet *q, pid_t pid);
/* Lists threads anew and adds those that are not known. */
void quiet_list(struct quiet *q, uint64_t now);

/* ---- quietlook.c ---- */

/* Looks at those that have slept long enough, until that has taken half a tick. */
void quiet_look_around(struct quiet *q, uint64_t now);
/* A time away is over. */
void quiet_woke(struct quiet *q, struct quiet_thread *t, const struct nap_over *over);
/* It sleeps on while the trace, or its life, ends: tells the beginning of that sleep. */
void quiet_sleeps_on(struct quiet *q, struct quiet_thread *t, uint64_t time);

/* ---- quietfeed.c ---- */

/* Learns who has left a processor and who has come to one. */
void quiet_feed(struct quiet *q, uint64_t now);

#endif
