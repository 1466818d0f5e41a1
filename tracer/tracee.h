/*
 * tracee.h: the tracing process's records of threads and processes: their address space, their
 * record in the trace, and their scheduler figures.
 *
 * Threads are found by their tid. When a thread that is not its process's leader calls exec, the
 * kernel gives it the leader's tid. From then on (tracee_exec) it uses the leader's tracee, and its
 * own ends like that of any thread that has ended.
 *
 * Not thread-safe.
 */
#ifndef FLAME_TRACER_TRACEE_H
#define FLAME_TRACER_TRACEE_H

#include "common/strbuf.h"
#include "tracer/openregions.h"
#include "tracer/inproc/schedstat_split.h"
#include "tracer/offcpu/arg_copy.h"
#include "tracer/stacks/address_space.h"

struct tracee_process {
    pid_t pid;
    struct space *space;
    unsigned threads;
    bool asked;                  /* its title has been read */
    struct strbuf title;         /* its title; empty if it has set none */
    struct tracee_process *next; /* next in its hash chain */
};

/* Sample of a sleeping thread (tracer/nostop/), until its sleep is emitted. */
struct sleeper_sample {
    bool is;
    int nr;          /* the call it sleeps in */
    off_stack stack; /* without the call's frame; 0: it could not be read */
    uint32_t node;   /* its node with the call's frame and the kernel's */
    struct off_object object;
    struct off_object *members; /* of a set; owned */
    size_t n, room;
    uint64_t epoll_read; /* when the members of an epoll set were read last */
};

struct tracee {
    pid_t tid;
    struct tracee *prev, *next; /* list of all tracees */
    struct tracee *beside;      /* next in its hash chain */
    struct tracee_process *process;
    uint16_t record; /* of offtrace_thread; 0: none yet */
    char comm[16];
    int schedstat; /* open file, or -1 */
    uint64_t since;
    uint64_t born;          /* when it began to be traced; `since` may be set anew */
    uint16_t parent;        /* record of the thread that made it; 0: not known */
    struct off_sched first; /* scheduler figures at `since` */
    bool ended;             /* its times were summed up for the last time */
    bool in_call;           /* a call was entered and not left */
    bool asleep;            /* it was attached to while in this call and not stopped since */
    off_stack asleep_stack; /* its stack, read when it was attached to */
    uint32_t noted; /* the stack of the present call, if the thread logged it; 0: it did not */
    struct arg_copy_kept memory; /* memory logged with its present or last call */
    struct schedstat_split
        figures;      /* if it logs calls: scheduler figures, split among the calls of a reading */
    uint32_t reading; /* recorder.readings when `figures` was last read */
    /* Page faults at the last reading, and the number that the state machine gets, which goes up
     * when there may have been more. `faulted`: there were more at the last reading, whose number
     * is faults_reading. */
    uint64_t faults, faults_emitted;
    bool faulted;
    uint32_t faults_reading;
    bool stack_known; /* its stack's mapping has been marked (space_note_own_stack) */
    struct sleeper_sample sample;
    struct strbuf kernel; /* kernel stack in the present call, outermost first, a name a line */
    bool kernel_asked;    /* the kernel stack was read, which is done once a call */
    /* The present call, if the thread logged it and kernel stacks are wanted. */
    int noted_nr;
    uint64_t noted_args[6];
    struct openregions regions; /* its open regions */
};

struct tracees;

struct tracees *tracees_new(struct spaces *spaces);
void tracees_free(struct tracees *ts);

/*
 * Adds a thread that begins. Its process is a known one, or one that `parent` (NULL: unknown) made
 * with the clone flags of the event, or one that was found. An earlier thread with this tid has
 * ended, and is freed if its end was not emitted.
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
/* Like tracees_find_process, but adds a process that is not known: its threads are about to be
 * attached to. */
struct tracee_process *tracees_expect_process(struct tracees *ts, pid_t pid);

/* Reads /proc/TID/schedstat, through a file that stays open while there are not too many. */
bool tracee_sched(struct tracee *t, struct off_sched *out);
/* Reads its name again; true when it has changed. */
bool tracee_renamed(struct tracee *t);
/* Reads the process's title again; true when it has changed; false also where it may not be
 * read. */
bool tracee_process_retitled(struct tracee_process *p);

#endif
