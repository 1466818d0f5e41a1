/*
 * offcpu_state.h: the memory of the state machine: one record for each traced thread and process,
 * and the lists of waiters. Only the files of the machine include it: offcpu.c and wake_cause.c,
 * and through wake_call.h waiting.c, wakers.c, holders.c, thread_exit.c and thread_kill.c.
 */
#ifndef FLAME_TRACER_OFFCPU_OFFCPU_STATE_H
#define FLAME_TRACER_OFFCPU_OFFCPU_STATE_H

#include "tracer/offcpu/idhash.h"
#include "tracer/offcpu/chain.h"
#include "tracer/offcpu/time_account.h"
#include "tracer/offcpu/offcpu.h"

/* Waits are sorted by the calls that can end them. The class is known from the call alone. */
enum wait_class {
    WAIT_NOT, /* no act of a traced thread ends it: time, disk */
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
    PHASE_INTERRUPTED, /* a signal took it out of the call. The report waits until it is known which
                          signal, or that the kernel resumes the call */
};

#define WAKES_KEPT 4

/* Share of a measured sleep in the time account. It is moved out once it is certain that the sleep
 * has ended. */
struct sleep_share {
    bool is; /* there is such a sleep */
    uint64_t end, held_ns, held_more_ns, stopped_ns, stops;
    uint64_t tracer_ns;   /* in its stops, and in the run queue on the way out of the first */
    uint64_t left_out_ns; /* the sleep itself, if it is not reported */
    uint64_t left_ns;     /* time that turned out to be no sleep */
};

struct queue;

struct sleeper_process;

struct sleeper {
    pid_t tid, pid;
    struct sleeper_process *process;
    enum phase phase;
    uint64_t seen; /* time of its last event */

    struct off_sleep s; /* the present sleep */
    bool counts;        /* PHASE_INTERRUPTED: long enough to be reported */
    bool stopped;       /* by job control, since stopped_at */
    uint64_t stopped_at;
    int signal, code; /* PHASE_INTERRUPTED: the first that was delivered; 0: none */
    pid_t sender;

    struct off_sched last; /* the last reading */
    bool has_last;
    bool has_base;              /* `last` was read within the present sleep */
    struct off_sched in;        /* has_base: the figures of the sleep up to then */
    uint64_t out_cpu, out_runq; /* not yet reported */
    uint64_t last_report;
    uint64_t last_rest; /* time of the last report of `ledger` */
    bool sampled;       /* CPU time is reported with samples */
    struct time_account ledger;
    struct sleep_share share; /* of the sleep that was measured last */
    bool exiting;             /* its time is no longer counted */

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
    struct wake *closer; /* end of the latest process that had the object open; or NULL */

    struct past past;
    UT_hash_handle hh;
};

/* A signal that was delivered. */
struct delivered {
    int signal, code; /* 0: none */
    pid_t sender;
    pid_t tid; /* the receiving thread */
};

struct sleeper_process {
    pid_t pid;
    pid_t ppid; /* 0: began before the trace */
    unsigned threads;
    unsigned exiting;    /* number of threads that are about to end */
    unsigned in_calls;   /* threads not in PHASE_OUT */
    struct wake *ending; /* by the thread that ends all others: by exit_group, or by its fault */
    struct {
        pid_t tid; /* 0: none */
        struct wake *by;
    } exec;                  /* a thread's unfinished call of exec */
    struct delivered signal; /* the latest */
    UT_hash_handle hh;
};

/* The threads that wait for one object, in the order in which they began to wait; it may be
 * empty. */
struct queue {
    struct off_object key; /* kind, a and b only */
    struct sleeper *head, *tail;
    UT_hash_handle hh;
};

/* A signal sent by a traced thread. */
struct sent_signal {
    int signal;
    pid_t pid; /* receiver; <= 0: a group, or all */
    struct wake *wake;
};

/* A process that ended. */
struct exited_process {
    pid_t pid, ppid;
    struct wake *wake;
};

/* A wake for which no sleeper was found; its thread may still be in the call. */
struct unclaimed_wake {
    pid_t tid;
    int nr;
    uint64_t args[6];
    uint64_t time;
};

#define SENT_SIGNALS_KEPT 64
#define EXITED_PROCESSES_KEPT 256
#define UNCLAIMED_WAKES_KEPT 32

#define RECENT 64u

struct waiting {
    struct sleeper *head, *tail;
    struct sleeper *unresolved; /* first unresolved one; all later ones are unresolved too */
    size_t n;
};

struct offcpu {
    struct offcpu_options opt;
    struct offcpu_ops world;
    struct offcpu_output sink;
    struct sleeper *threads;
    struct sleeper *recent[RECENT]; /* cache of the threads that were looked up last, by tid */
    struct sleeper_process *processes;
    struct waiting waiting[WAIT_CLASSES];
    size_t writers; /* of waiting[WAIT_FD]: number of threads that wait for room */
    struct queue *queues;
    unsigned empty_queues;
    struct sent_signal sent[SENT_SIGNALS_KEPT];
    struct exited_process exited[EXITED_PROCESSES_KEPT];
    struct unclaimed_wake early[UNCLAIMED_WAKES_KEPT];
    size_t nsent, nexited, nearly; /* counts since the start; the rings hold the last ones */
    uint64_t resume_runq;          /* see offcpu.h */
};

struct sleeper *machine_sleeper(struct offcpu *o, pid_t tid);
struct sleeper_process *machine_process(struct offcpu *o, pid_t pid);

/* ---- waiting.c ---- */

/* waiting_begin: the thread begins to wait, in the call t->s.nr. waiting_end: it no longer waits;
 * its wakes stay for wake_cause.c until waiting_clear drops them. */
void waiting_begin(struct offcpu *o, struct sleeper *t);
void waiting_end(struct offcpu *o, struct sleeper *t);
void waiting_clear(struct sleeper *t);
/* Frees queues without waiters. */
void queues_drop_empty(struct offcpu *o);
/* Makes sure s.object and set are known. */
void waiting_resolve(struct offcpu *o, struct sleeper *t);

/* ---- wakers.c, thread_exit.c ---- */

/* Handles a call that may wake other threads. */
void waking_call(struct offcpu *o, struct sleeper *waker, const struct off_event *e);
/* waking_exit: the thread is about to end; `killer`: the wake of the thread that ended it while it
 * ran, or NULL. waking_exec: its process runs another program. */
void waking_exit(struct offcpu *o, struct sleeper *dying, uint64_t now, struct wake *killer);
void waking_exec(struct offcpu *o, struct sleeper *t, uint64_t now, bool with_stack);
/* Passes on the wakes of an ended wait that did not use them. */
void wake_transfer(struct sleeper *t);
/* wake_take_from_peer takes a wake from another thread that waits on the same object;
 * wake_find_unclaimed finds one that was made just before this sleep began. NULL: none. The caller
 * gets a new reference. */
struct wake *wake_take_from_peer(struct sleeper *t);
struct wake *wake_find_unclaimed(struct offcpu *o, struct sleeper *t);

/* ---- thread_kill.c ---- */

/* Records a call that may end other threads of its process. */
void killing_call(struct offcpu *o, struct sleeper *t, const struct off_event *e);
/* Records a signal that is delivered to the thread. */
void killing_signal(struct sleeper *t, const struct off_event *e);
/* Drops the records of exec and exit_group: their threads have ended. */
void killing_done(struct sleeper_process *p);
/*
 * The wake of the traced thread that ended this one, whose wait status is known: a new reference.
 * NULL: none did, or it is not known. killer_asleep is for a thread that was in a call, and stores
 * the signal in it, for wake_cause_of. killer_awake is for a thread that ran: only threads of other
 * processes count, as all threads of one process end together.
 */
struct wake *killer_asleep(struct offcpu *o, struct sleeper *t, int status, uint64_t now);
struct wake *killer_awake(struct offcpu *o, struct sleeper *t, int status, uint64_t now);

/* ---- holders.c ---- */

/* The end of the last process that had the object of t's wait open, if the wait's result is one
 * that such an end brings. Else `by` (may be NULL). Takes over `by`. */
struct wake *holders_end(struct sleeper *t, struct wake *by, bool hung_up);

/* ---- wake_cause.c ---- */

/* The wake by the signal that is stored in t, or, if none is, by any signal: a new reference, never
 * NULL. */
struct wake *wake_cause_signal(const struct offcpu *o, const struct sleeper *t);

/* The wake that ended the sleep of t: a new reference, never NULL. */
struct wake *wake_cause_of(struct offcpu *o, struct sleeper *t);

/* Whether a call's result shows that a signal interrupted it: EINTR, or a result of kernel_errno.h.
 */
bool result_interrupted(int64_t result);
/* Whether the kernel may resume the call after this result (kernel_errno.h). */
bool result_restarts(int64_t result);
/* Whether the kernel does not resume the call if a signal handler runs. */
bool result_by_handler(int64_t result);

#endif
