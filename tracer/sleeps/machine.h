/*
 * machine.h: what the state machine keeps: one record for each traced thread and
 * process, and the lists of who waits for what. Only the files of the machine include it:
 * offcpu.c and wake_cause.c, and through wake_call.h waiting.c, wakers.c, holders.c, thread_exit.c
 * and thread_kill.c.
 */
#ifndef FLAME_TRACER_SLEEPS_MACHINE_H
#define FLAME_TRACER_SLEEPS_MACHINE_H

#include "tracer/sleeps/idhash.h"
#include "tracer/sleeps/chain.h"
#include "tracer/sleeps/ledger.h"
#include "tracer/sleeps/offcpu.h"

/* Waits are sorted by the calls that can end them. The class is known from the call alone. */
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
    PHASE_INTERRUPTED, /* a signal took it out of the call. The report waits until it is known
                          which signal, or that the kernel goes on with the call */
};

#define WAKES_KEPT 4

/* What a measured sleep takes out of the ledger, once it is certain that it has ended. */
struct sleep_share {
    bool is; /* there is such a sleep */
    uint64_t end, held_ns, held_more_ns, stopped_ns, stops;
    uint64_t tracer_ns;   /* in its stops, and in the wait for a CPU on the way out of the first */
    uint64_t left_out_ns; /* the sleep itself, if it is not reported */
    uint64_t left_ns;     /* what turned out to be no sleep */
};

struct queue;

struct sleeper_process;

struct sleeper {
    pid_t tid, pid;
    struct sleeper_process *process;
    enum phase phase;
    uint64_t seen; /* time of its last event */

    struct off_sleep s; /* the sleep under way */
    bool counts;        /* PHASE_INTERRUPTED: long enough to be reported */
    bool stopped;       /* by job control, since stopped_at */
    uint64_t stopped_at;
    int signal, code; /* PHASE_INTERRUPTED: the first that was delivered; 0: none */
    pid_t sender;

    struct off_sched last; /* the last reading */
    bool has_last;
    bool has_base;              /* `last` is from within the sleep under way, */
    struct off_sched in;        /* and this is what it used up to then */
    uint64_t out_cpu, out_runq; /* not yet reported */
    uint64_t last_report;
    uint64_t last_rest; /* when `ledger` was reported last */
    bool sampled;       /* samples carry the CPU time */
    struct ledger ledger;
    struct sleep_share share; /* of the sleep that was measured */
    bool exiting;             /* what it does from now on is not counted */

    /* Waiting, wakers.c: */
    enum wait_class wait;
    bool resolved; /* s.object and set are known */
    struct sleeper *prev, *next;
    struct queue *queue;
    struct sleeper *qprev, *qnext;
    struct off_object *set; /* sorted */
    size_t nset, set_room;
    struct wake *got[WAKES_KEPT]; /* may have ended the sleep; oldest first */
    size_t ngot;
    struct wake *closer; /* the last process to go that had what it waits for; or NULL */

    struct past past;
    UT_hash_handle hh;
};

/* A signal that was delivered. */
struct delivered {
    int signal, code; /* 0: none */
    pid_t sender;
    pid_t tid; /* to which thread */
};

struct sleeper_process {
    pid_t pid;
    pid_t ppid; /* 0: began before the trace */
    unsigned threads;
    unsigned exiting;    /* of them: about to end */
    unsigned in_calls;   /* threads not in PHASE_OUT */
    struct wake *ending; /* the thread that ends all others: by exit_group, or by its fault */
    struct {
        pid_t tid; /* 0: none */
        struct wake *by;
    } exec;                  /* a thread's call of exec that is under way */
    struct delivered signal; /* the last */
    UT_hash_handle hh;
};

/* The threads that wait for one thing, in the order in which they began to wait; there may be none.
 */
struct queue {
    struct off_object key; /* the identity only */
    struct sleeper *head, *tail;
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

#define RECENT 64u

struct waiting {
    struct sleeper *head, *tail;
    struct sleeper *unresolved; /* from here on, to the tail */
    size_t n;
};

struct offcpu {
    struct offcpu_options opt;
    struct off_world world;
    struct off_sink sink;
    struct sleeper *threads;
    struct sleeper *recent[RECENT]; /* of those that were asked for last, by tid */
    struct sleeper_process *processes;
    struct waiting waiting[WAIT_CLASSES];
    size_t writers; /* of waiting[WAIT_FD]: those that wait for room */
    struct queue *queues;
    unsigned empty_queues;
    struct sent sent[SENT_KEPT];
    struct grave graves[GRAVES_KEPT];
    struct early early[EARLY_KEPT];
    size_t nsent, ngraves, nearly; /* ever; the rings hold the last ones */
    uint64_t resume_runq;          /* see offcpu.h */
};

struct sleeper *machine_sleeper(struct offcpu *o, pid_t tid);
struct sleeper_process *machine_process(struct offcpu *o, pid_t pid);

/* ---- waiting.c ---- */

/* waiting_begin: the thread begins to wait, in the call t->s.nr. waiting_end: it waits no
 * longer; the wakes it got are kept for wake_cause.c until waiting_clear forgets them. */
void waiting_begin(struct offcpu *o, struct sleeper *t);
void waiting_end(struct offcpu *o, struct sleeper *t);
void waiting_clear(struct sleeper *t);
/* Gives back queues in which nobody waits. */
void queues_drop_empty(struct offcpu *o);
/* Makes sure s.object and set are known. */
void waiting_resolve(struct offcpu *o, struct sleeper *t);

/* ---- wakers.c, thread_exit.c ---- */

/* The thread makes a call that may wake others. */
void waking_call(struct offcpu *o, struct sleeper *waker, const struct off_event *e);
/* waking_exit: the thread is about to end; `killer`: who ended it while it ran, or NULL.
 * waking_exec: its process runs another program. */
void waking_exit(struct offcpu *o, struct sleeper *dying, uint64_t now, struct wake *killer);
void waking_exec(struct offcpu *o, struct sleeper *t, uint64_t now, bool with_stack);
/* An ended wait that did not take the wakes it was given passes them on. */
void waking_pass_on(struct sleeper *t);
/* waking_steal takes the wake that was given to another thread that waits on the same object;
 * waking_early finds one that was made just before this sleep began. NULL: there is none. The
 * caller gets a new reference. */
struct wake *waking_steal(struct sleeper *t);
struct wake *waking_early(struct offcpu *o, struct sleeper *t);

/* ---- thread_kill.c ---- */

/* A thread makes a call; it may be one that ends other threads of its process. */
void killing_call(struct offcpu *o, struct sleeper *t, const struct off_event *e);
/* A signal is delivered to the thread. */
void killing_signal(struct sleeper *t, const struct off_event *e);
/* Those that were to be ended have been. */
void killing_done(struct sleeper_process *p);
/*
 * Which traced thread ended this one, whose status (as wait has it) is known: a new reference.
 * NULL: none did, or it is not known. killer_asleep is of a thread that was in a call, and notes
 * in it which signal it was, for wake_cause_of. killer_awake is of one that ran: only another
 * process's thread counts, as all threads of one process end together.
 */
struct wake *killer_asleep(struct offcpu *o, struct sleeper *t, int status, uint64_t now);
struct wake *killer_awake(struct offcpu *o, struct sleeper *t, int status, uint64_t now);

/* ---- holders.c ---- */

/* Who ended the sleep of t, if not `by` (NULL: nobody), which is taken over: who was the last to
 * have what it waited for, if the result is one that this brings. */
struct wake *holders_end(struct sleeper *t, struct wake *by, bool hung_up);

/* ---- wake_cause.c ---- */

/* Who ended the sleep of t by the signal that is noted in it, or, if none is, by any: a new
 * reference, never NULL. */
struct wake *wake_cause_signal(const struct offcpu *o, const struct sleeper *t);

/* Who ended the sleep of t: a new reference, never NULL. */
struct wake *wake_cause_of(struct offcpu *o, struct sleeper *t);

/* Whether a call's result says that a signal interrupted it (EINTR, or what follows). */
bool result_interrupted(int64_t result);
/* Whether the kernel may go on with the call after this result (restarts.h). */
bool result_restarts(int64_t result);
/* Whether the kernel does not go on with the call if a signal handler runs. */
bool result_by_handler(int64_t result);

#endif
