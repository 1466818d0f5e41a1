/*
 * source.h: the event source. It launches a command or attaches to processes, follows their threads
 * by ptrace, and emits plain events (event.h) to a client.
 *
 * A process has one source and no other children, because the source waits for all of them. Threads
 * are detached when this process ends (tracer.h says why); the source must be drained first
 * (source_detach_all).
 */
#ifndef FLAME_TRACER_PTRACE_SOURCE_H
#define FLAME_TRACER_PTRACE_SOURCE_H

#include <sys/user.h>

#include "common/signals/signal_forward.h"
#include "tracer/offcpu/event.h"

struct source;

struct source_options {
    char **argv;       /* to launch; NULL: attach */
    const pid_t *pids; /* to attach to */
    size_t npids;
    pid_t caller;                               /* is not attached to; its signals are passed on */
    const struct signal_forward_saved *signals; /* signal state that the command gets */
    uint64_t duration_ns;                       /* 0: no limit */
    unsigned hz;
    bool no_filter, no_follow;
    /* For a command under a filter. Calls that return to this address do not stop; 0: no such
     * address. */
    uintptr_t lets_by;
    uintptr_t lets_marked; /* return address of marked calls that do not stop, within a page
                              (inproc/syscall_mark.h) */
    const char *const *environment; /* "NAME=VALUE" for the command's environment; NULL: none */
};

struct source_client {
    void *arg;
    void (*event)(void *arg, const struct off_event *e);
    /* A thread is about to be attached to: data about it that takes time can be read now, before
     * any thread is stopped. `regs` has rip and rsp, and otherwise 0, if the thread sleeps; else it
     * is NULL. May be NULL itself. */
    void (*prepare)(void *arg, pid_t pid, pid_t tid, const struct user_regs_struct *regs);
    void (*beat)(void *arg, uint64_t now); /* between events, about every beat_ns */
    uint64_t beat_ns;
    /* For clients that set lets_by; may be NULL otherwise. A thread has stopped, for any reason,
     * and no event of that stop was emitted yet. */
    void (*stopped)(void *arg, uint64_t now);
    /* `parent` makes `child`, with these flags of clone(2). Both are stopped, and the child's
     * beginning was not emitted yet. `child` is 0 when a child of vfork has returned its parent's
     * memory. */
    void (*born)(void *arg, pid_t parent, pid_t child, uint64_t flags);
    /* The thread is stopped: a signal that the program does not ignore comes next, or job control
     * stopped the thread. Called even after the last event. */
    void (*handled)(void *arg, pid_t tid, uint64_t now);
    /* The thread has ended, or runs another program. */
    void (*gone)(void *arg, pid_t tid);
    /* The thread is stopped at the beginning of another program, also of the command's first.
     * Called even after the last event. */
    void (*executed)(void *arg, pid_t tid);
};

/* Never fails. The source is not freed: it ends with the tracing process. Freeing memory would take
 * time in which threads may be stopped. */
struct source *source_new(const struct source_options *o, const struct source_client *c);

/* Attaches, or gets the command ready to run. 0, or an enum flame_exit after a line. On failure
 * nothing is traced, and no program was disturbed. */
int source_start(struct source *s);

/* Emits events until the beginning of each thread of the processes that were given has been
 * emitted. Without it source_run does that. */
void source_attach_all(struct source *s);

/*
 * Emits events until the command has ended, nothing is left to trace, the duration has passed or a
 * signal ends it. 0, or an enum flame_exit after a line when the command could not be run.
 */
int source_run(struct source *s);

/* Time or a signal ended source_run. */
bool source_over(const struct source *s);
/* After source_run: true when something is still traced. */
bool source_has_tracees(const struct source *s);
/* Brings every traced thread into a state in which this process may end without the program
 * noticing. Emits an end for each thread, and nothing after that. */
void source_detach_all(struct source *s);
/* Whether source_run returned because the command was sent SIGTERM through us and did not end. */
bool source_sigterm_ignored(const struct source *s);
/*
 * True when the traced threads must not be detached, because calls under our seccomp filter fail
 * without a tracer. The caller then uses the next two functions. source_report_ends emits an end
 * for each thread, and no thread stays stopped while the others' ends are emitted.
 * source_serve_silently continues tracing until the last thread has ended, and emits nothing.
 */
bool source_must_stay(const struct source *s);
void source_report_ends(struct source *s);
void source_serve_silently(struct source *s);

/* The launched command; 0 when there is none. Its wait status is valid once source_run has
 * returned, unless the command still runs. */
pid_t source_command(const struct source *s);
int source_wait_status(const struct source *s);

/* Registers of a traced thread at its last stop. They are valid while it is stopped there or sleeps
 * in a call. Only rip and rsp are known, and the rest is 0, if it was attached to in a call that
 * must not be interrupted. */
bool source_regs(struct source *s, pid_t tid, struct user_regs_struct *out);
/* Whether the thread's beginning was emitted while it slept in a call, and it has not been stopped
 * since. */
bool source_asleep(struct source *s, pid_t tid);
/* Resumes a thread while its OFF_EXIT is being handled: the rest of the work does not need the
 * thread stopped. */
void source_resume(struct source *s, pid_t tid);

/* Sets the period of the client's `beat`, in ns. */
void source_beat_every(struct source *s, uint64_t ns);

/* Stops so far. */
uint64_t source_stops(const struct source *s);

uint64_t source_now(void); /* CLOCK_MONOTONIC, ns */

#endif
