/*
 * source.h: the event source. Launches a command or attaches to processes, follows
 * their threads by ptrace, and tells a client what happens as plain events (event.h).
 *
 * One source a process, in a process that has no other children: it waits for all of
 * them. Leaving a process attached to is ending this process (tracer.h says why); the
 * source is to be drained first (source_leave).
 */
#ifndef FLAME_TRACER_PTRACE_SOURCE_H
#define FLAME_TRACER_PTRACE_SOURCE_H

#include <sys/user.h>

#include "common/signals/signal_forward.h"
#include "tracer/sleeps/event.h"

struct source;

struct source_options {
    char **argv;       /* to launch; NULL: attach */
    const pid_t *pids; /* to attach to */
    size_t npids;
    pid_t caller; /* not to be attached to; its signals are passed on */
    const struct signal_forward_saved *signals; /* what the command is to have */
    uint64_t duration_ns;                       /* 0: no limit */
    unsigned hz;
    bool no_filter, no_follow;
    /* Of a command under a filter: calls that return to this address do not stop (0: there is no
       such place), and what the command gets in its environment, "NAME=VALUE" or NULL. */
    uintptr_t lets_by;
    uintptr_t lets_marked;          /* the same of marked calls, within a page (inside/mark.h) */
    const char *const *environment; /* NULL: nothing */
};

struct source_client {
    void *arg;
    void (*event)(void *arg, const struct off_event *e);
    /* A thread is going to be attached to: what will have to be known of it, and takes time,
       can be read now, before anybody is stopped. Its registers (rip and rsp, the rest is 0) if
       it sleeps, else NULL. May be NULL itself. */
    void (*prepare)(void *arg, pid_t pid, pid_t tid, const struct user_regs_struct *regs);
    void (*beat)(void *arg, uint64_t now); /* between events, about every beat_ns */
    uint64_t beat_ns;
    /* Where calls are let by, for whoever hears of those; may be NULL otherwise. A thread stands,
       whatever for, and nothing was told of that yet. */
    void (*stopped)(void *arg, uint64_t now);
    /* `parent` makes `child`, with these flags of clone(2), and both stand; it has not been told
       yet. What a child of vfork had borrowed it has no more: `child` is 0. */
    void (*born)(void *arg, pid_t parent, pid_t child, uint64_t flags);
    /* The thread stands: the program does not ignore a signal that it gets next, or job control
       stopped it. Also when nothing else is told any more. */
    void (*handled)(void *arg, pid_t tid, uint64_t now);
    /* The thread has ended, or runs another program. */
    void (*gone)(void *arg, pid_t tid);
    /* It stands at the beginning of another program, also the command's first. Also when nothing
       else is told any more. */
    void (*executed)(void *arg, pid_t tid);
};

/* Never fails. It is not freed: the tracing process ends with it, as giving memory back takes
 * time in which threads may stand. */
struct source *source_new(const struct source_options *o, const struct source_client *c);

/* Attaches, or gets the command ready to run. 0, or an enum flame_exit after a line:
 * then nothing is traced and no program was disturbed. */
int source_start(struct source *s);

/*
 * Tells events until the command has ended, nothing is left to trace, the time is over
 * or a signal ends it. 0, or an enum flame_exit after a line when the command could not
 * be run.
 */
int source_run(struct source *s);

/* Time or a signal ended source_run. */
bool source_over(const struct source *s);
/* After source_run: true when something is still traced. */
bool source_left(const struct source *s);
/* Brings every traced thread into a state in which this process may end without the program
 * noticing. An end is told for each thread, and nothing after that. */
void source_leave(struct source *s);
/* Whether the command was sent SIGTERM through us and has not ended by it, which is why
 * source_run has returned. */
bool source_outlived(const struct source *s);
/*
 * True when the traced threads must not be left, because calls under our seccomp filter fail
 * without a tracer. Then the caller uses the other two: source_tell_ends tells an end for each
 * thread, and no thread stands while the others' ends are told; source_keep_serving goes on
 * tracing until the last thread has ended, without telling anything.
 */
bool source_must_stay(const struct source *s);
void source_tell_ends(struct source *s);
void source_keep_serving(struct source *s);

/* The launched command; 0 when there is none. Its status once source_run has returned,
 * unless it runs on. */
pid_t source_command(const struct source *s);
int source_wait_status(const struct source *s);

/* Registers of a traced thread at its last stop. They are still right while it stands there or
 * sleeps in a call. If the thread was attached to while it slept in a call that must not be
 * interrupted, only rip and rsp are known, and the rest is 0. */
bool source_regs(struct source *s, pid_t tid, struct user_regs_struct *out);
/* Whether its beginning was told while it slept in a call, and it has not been stopped since. */
bool source_asleep(struct source *s, pid_t tid);
/* To be called while its OFF_EXIT is being told: what is still to be done does not need the
 * thread to stand, so it goes on at once. */
void source_go_on(struct source *s, pid_t tid);

/* The client's `beat` is to come so often from now on, in ns. */
void source_beat_every(struct source *s, uint64_t ns);

/* Stops so far. */
uint64_t source_stops(const struct source *s);

uint64_t source_now(void); /* CLOCK_MONOTONIC, ns */

#endif
