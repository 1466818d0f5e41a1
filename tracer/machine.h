/*
 * machine.h: what the state machine keeps: one record for each traced thread and
 * process, and the lists of who waits for what. Shared by offcpu.c, wakers.c and
 * endings.c; nobody else includes it.
 */
#ifndef FLAME_TRACER_MACHINE_H
#define FLAME_TRACER_MACHINE_H

#include <uthash.h>

#include "tracer/chain.h"
#include "tracer/offcpu.h"

/* Sorts waits by the calls that can end them; known from the call alone. */
enum wait_class {
    WAIT_NOT, /* nothing a traced thread does ends it: time, disk */
    WAIT_FUTEX,
    WAIT_FD,
    WAIT_SET,
    WAIT_CHILD,
    WAIT_SEM,
    WAIT_MSGQ,
    WAIT_SIGNAL,
    WAIT_CLASSES
};

enum phase {
    PHASE_OUT,
    PHASE_IN,          /* in a call that may sleep */
    PHASE_INTERRUPTED, /* out of it with a result that says a signal; the report waits until
                          it is known which, or that the kernel goes on with the call */
};

#define WAKES_KEPT 4

struct queue;

struct thread {
    pid_t tid, pid;
    enum phase phase;
    uint64_t seen; /* time of its last event */

    struct off_sleep s; /* the sleep under way */
    bool counts;        /* PHASE_INTERRUPTED: long enough to be reported */
    bool stopped;       /* by job control, since stopped_at */
    uint64_t stopped_at;
    uint64_t stopped_ns; /* of the sleep under way */
    int signal, code;    /* PHASE_INTERRUPTED: the first that was delivered; 0: none */
    pid_t sender;

    struct off_sched last; /* the last reading */
    bool has_last;
    bool has_base;              /* `last` is from within the sleep under way, */
    struct off_sched in;        /* and this is what it used up to then */
    uint64_t out_cpu, out_runq; /* not yet reported */
    uint64_t last_report;
    bool sampled; /* samples carry the CPU time */

    /* Waiting, wakers.c: */
    enum wait_class wait;
    bool resolved; /* s.object and set are known */
    struct thread *prev, *next;
    struct queue *queue;
    struct thread *qprev, *qnext;
    struct off_object *set; /* sorted */
    size_t nset, set_room;
    struct wake *got[WAKES_KEPT]; /* may have ended the sleep; oldest first */
    size_t ngot;

    struct past past;
    UT_hash_handle hh;
};

struct process {
    pid_t pid;
    pid_t ppid; /* 0: began before the trace */
    unsigned threads;
    unsigned in_calls;   /* threads not in PHASE_OUT */
    struct wake *ending; /* the first thread to go, if it was not asleep */
    UT_hash_handle hh;
};

/* Threads that wait for one thing, in order of entry. */
struct queue {
    struct off_object key; /* the identity only */
    struct thread *head, *tail;
    UT_hash_handle hh;
};

/* A signal sent by a traced thread. */
struct sent {
    int signal;
    pid_t pid; /* whom to; <= 0: a group, or all */
    struct wake *wake;
};

/* A process that ended. */
struct grave {
    pid_t pid, ppid;
    struct wake *wake;
};

/* A wake that found nobody asleep; its thread may still be at it. */
struct early {
    pid_t tid;
    int nr;
    uint64_t args[6];
    uint64_t time;
};

#define SENT_KEPT 64
#define GRAVES_KEPT 256
#define EARLY_KEPT 32

struct waiting {
    struct thread *head, *tail;
    struct thread *unresolved; /* from here on, to the tail */
    size_t n;
};

struct offcpu {
    struct offcpu_options opt;
    struct off_world world;
    struct off_sink sink;
    struct thread *threads;
    struct process *processes;
    struct waiting waiting[WAIT_CLASSES];
    size_t writers; /* of waiting[WAIT_FD]: those that wait for room */
    struct queue *queues;
    struct sent sent[SENT_KEPT];
    struct grave graves[GRAVES_KEPT];
    struct early early[EARLY_KEPT];
    size_t nsent, ngraves, nearly; /* ever; the rings hold the last ones */
    uint64_t resume_runq;          /* see offcpu.h */
};

struct thread *machine_thread(struct offcpu *o, pid_t tid);
struct process *machine_process(struct offcpu *o, pid_t pid);

/* ---- waiting.c ---- */

/* The thread waits from now on, in t->s.nr; and no longer. After waiting_end the wakes it
 * got are still there, for endings.c; waits_clear forgets them. */
void waiting_begin(struct offcpu *o, struct thread *t);
void waiting_end(struct offcpu *o, struct thread *t);
void waiting_clear(struct thread *t);
/* Makes sure s.object and set are known. */
void waiting_resolve(struct offcpu *o, struct thread *t);
/* ---- wakers.c, partings.c ---- */

/* The thread makes a call that may wake others. */
void waking_call(struct offcpu *o, struct thread *waker, const struct off_event *e);
/* The thread is about to end; its process runs another program. */
void waking_exit(struct offcpu *o, struct thread *dying, uint64_t now);
void waking_exec(struct offcpu *o, struct thread *t, uint64_t now, bool with_stack);
/* An ended wait that did not take the wakes it was given passes them on. */
void waking_pass_on(struct thread *t);
/* The wake that was given to another on the same object, or made just before this sleep;
 * NULL: none. A new reference. */
struct wake *waking_steal(struct thread *t);
struct wake *waking_early(struct offcpu *o, struct thread *t);

/* ---- endings.c ---- */

/* Who ended the sleep of t: a new reference, never NULL. */
struct wake *ending_of(struct offcpu *o, struct thread *t);

/* How a call's result tells that it slept in vain. */
bool ending_interrupted(int64_t result);
bool ending_restarts(int64_t result);
/* The kernel does not go on after such a result if a handler runs. */
bool ending_by_handler(int64_t result);

#endif
