/*
 * tracee.h: what the tracing process keeps of threads and processes for the trace: which
 * address space, which record, what the scheduler said.
 *
 * Not thread-safe.
 */
#ifndef FLAME_TRACER_TRACEE_H
#define FLAME_TRACER_TRACEE_H

#include "common/strbuf.h"
#include "tracer/space.h"

struct process {
    pid_t pid;
    struct space *space;
    unsigned threads;
    struct process *next; /* of its hash chain */
};

struct tracee {
    pid_t tid;
    struct tracee *prev, *next; /* of all */
    struct process *process;
    uint16_t record; /* of offtrace_thread; 0: none yet */
    char comm[16];
    int schedstat; /* open file, or -1 */
    uint64_t since;
    struct off_sched first; /* when it began to be traced */
    bool in_call;           /* a call was entered and not left */
    bool asleep;            /* attached to in it and not stopped since: */
    off_stack asleep_stack; /* taken then */
    struct strbuf kernel;   /* kernel stack in the present call, outermost first, a name a line */
    bool kernel_asked;      /* once a call */
};

struct tracees;

struct tracees *tracees_new(struct spaces *spaces);
void tracees_free(struct tracees *ts);

/* A thread begins: of a known process, one that `parent` (NULL: not known) made with these
 * clone flags, or one found. */
struct tracee *tracee_new(struct tracees *ts, const struct off_event *begin,
                          const struct tracee *parent);
void tracee_free(struct tracees *ts, struct tracee *t);
/* Its process runs another program; `t` is its only thread. */
void tracee_exec(struct tracees *ts, struct tracee *t);
/* For walks: the first, then ->next. */
struct tracee *tracees_first(const struct tracees *ts);
struct process *process_find(const struct tracees *ts, pid_t pid);

/* /proc/TID/schedstat, through a file that is kept open while there are not too many. */
bool tracee_sched(struct tracee *t, struct off_sched *out);
/* Reads its name again; true when it has changed. */
bool tracee_renamed(struct tracee *t);

#endif
