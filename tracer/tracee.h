/*
 * tracee.h: what the tracing process keeps of threads and processes for the trace: which
 * address space, which record, what the scheduler said.
 *
 * Threads are found by their tid. When a thread that is not its process's leader calls exec,
 * the kernel gives it the leader's tid: then it goes on as the leader's tracee, which is told
 * so by tracee_exec, and its own ends like that of any thread that is gone.
 *
 * Not thread-safe.
 */
#ifndef FLAME_TRACER_TRACEE_H
#define FLAME_TRACER_TRACEE_H

#include "common/strbuf.h"
#include "tracer/openregions.h"
#include "tracer/rings/figures.h"
#include "tracer/sleeps/eventmemory.h"
#include "tracer/stacks/space.h"

struct tracee_process {
    pid_t pid;
    struct space *space;
    unsigned threads;
    bool asked;                  /* for its title, which is */
    struct strbuf title;         /* empty if it has set none */
    struct tracee_process *next; /* of its hash chain */
};

/* What a look at a sleeping thread saw (tracer/quiet/), until its sleep is told. */
struct glimpse {
    bool is;
    int nr;          /* the call it sleeps in */
    off_stack stack; /* without the call's frame; 0: it could not be read */
    uint32_t node;   /* with it, and with the kernel's */
    struct off_object object;
    struct off_object *members; /* of a set; owned */
    size_t n, room;
    uint64_t epoll_read; /* when the members of an epoll set were read last */
};

struct tracee {
    pid_t tid;
    struct tracee *prev, *next; /* of all */
    struct tracee *beside;      /* of its hash chain */
    struct tracee_process *process;
    uint16_t record; /* of offtrace_thread; 0: none yet */
    char comm[16];
    int schedstat; /* open file, or -1 */
    uint64_t since;
    uint64_t born;          /* when it began to be traced; `since` may begin anew */
    uint16_t parent;        /* record of the thread that made it; 0: not known */
    struct off_sched first; /* when it began to be traced */
    bool ended;             /* its times were summed up for the last time */
    bool in_call;           /* a call was entered and not left */
    bool asleep;            /* it was attached to while in this call and not stopped since */
    off_stack asleep_stack; /* its stack, taken when it was attached to */
    uint32_t noted; /* the call it is in was noted by itself, with this stack; 0: it was not */
    struct event_memory_kept memory; /* what it noted with the call it is, or was last, in */
    struct figures figures; /* if it notes calls, and in which of the recorder's readings: */
    uint32_t reading;
    /* Pages it had asked for when that was looked at last, whether they were more then, in which
       reading, and what the state machine is told: a number that goes up when it may have. */
    uint64_t faults, faults_told;
    bool faulted;
    uint32_t faults_reading;
    bool stack_known; /* its stack's memory has been noted (space_note_own_stack) */
    struct glimpse glimpse;
    struct strbuf kernel; /* kernel stack in the present call, outermost first, a name a line */
    bool kernel_asked;    /* the kernel stack was asked for, which is done once a call */
    /* The call it is in, where it noted that itself and kernel stacks are asked for. */
    int noted_nr;
    uint64_t noted_args[6];
    struct openregions regions; /* that it is in */
};

struct tracees;

struct tracees *tracees_new(struct spaces *spaces);
void tracees_free(struct tracees *ts);

/*
 * A thread begins. Its process is a known one, or one that `parent` (NULL: not known) made with
 * the clone flags of the event, or one that was found. Whoever had its tid before is gone, and
 * is freed if its end was not told.
 */
struct tracee *tracee_new(struct tracees *ts, const struct off_event *begin,
                          const struct tracee *parent);
void tracee_free(struct tracees *ts, struct tracee *t);
/* The traced thread with that tid, or NULL. */
struct tracee *tracee_find(const struct tracees *ts, pid_t tid);
/* Its process runs another program; `t` is its only thread. */
void tracee_exec(struct tracees *ts, struct tracee *t);
/* For walks: the first, then ->next. */
struct tracee *tracees_first(const struct tracees *ts);
struct tracee_process *tracees_find_process(const struct tracees *ts, pid_t pid);
/* The same, but a process that is not known is added: one whose threads are about to be
 * attached to. */
struct tracee_process *tracees_expect_process(struct tracees *ts, pid_t pid);

/* /proc/TID/schedstat, through a file that is kept open while there are not too many. */
bool tracee_sched(struct tracee *t, struct off_sched *out);
/* Reads its name again; true when it has changed. */
bool tracee_renamed(struct tracee *t);
/* The same for what the process calls itself; false also where that may not be read. */
bool tracee_process_retitled(struct tracee_process *p);

#endif
