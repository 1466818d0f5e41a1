/*
 * source_state.h: the state that the files of the event source share: source.c (the loop), spawn.c
 * and attach.c (the beginnings), stops.c (the handling of stops), clone_exec_exit.c (clone, exec
 * and exit events), detach.c (the detaching).
 */
#ifndef FLAME_TRACER_PTRACE_SOURCE_STATE_H
#define FLAME_TRACER_PTRACE_SOURCE_STATE_H

#include <sys/wait.h>

#include "tracer/ptrace/stop_latency.h"
#include "tracer/ptrace/ptraced.h"
#include "tracer/ptrace/source.h"

struct attach;

/* Time that a command may take to end after SIGTERM; then the tracing ends without it. */
#define SOURCE_GRACE_NS 700000000u

struct source {
    struct source_options opt;
    struct source_client client;
    struct ptraced_table *threads;
    int ptrace_options;
    bool filtered;      /* calls stop by the seccomp filter; else all do */
    bool silent;        /* no more events are emitted */
    bool leaving;       /* threads are being detached, one after the other */
    bool emitting_ends; /* ends of threads are being emitted, one after the other */

    pid_t command;
    bool running; /* the command's exec has happened */
    bool ended;   /* the command has ended */
    int wait_status;
    int exec_error;    /* read end of a pipe: the errno of a failed exec */
    int failed;        /* enum flame_exit, after a line */
    bool over;         /* time or a signal ended the tracing */
    uint64_t asked_ns; /* when the command was first sent SIGTERM through us; 0: never */
    bool outlived;     /* it was sent SIGTERM and did not end: `over` for that reason */
    uint64_t tick;     /* present period */
    uint64_t ticked, beat, sampled; /* times of the last tick, beat and sample */

    uint64_t began;        /* time of the first stop, for the duration */
    unsigned interrupts;   /* sent, and no stop has come yet */
    unsigned put_off;      /* threads that are not interrupted yet */
    unsigned unseen;       /* put-off threads with an emitted call that they may have left */
    unsigned limbo;        /* threads at their first stop whose parent is not known yet */
    struct attach *attach; /* attaching is under way; NULL: it is not, or no longer */

    struct stop_latency notice;
    uint64_t stops;
};

/* A stopped thread: its status from waitpid, and the time of the stop: an estimate, and the
 * earliest. */
struct standing {
    pid_t tid;
    int status;
    uint64_t since, earliest;
};

/* source.c. Emits an event to the client, unless the thread's events are not emitted. */
void source_emit(struct source *s, struct ptraced *t, struct off_event *e);
/* source_step waits for the next stop and handles it, or does other work that is due; false:
 * nothing is left to wait for. source_poll handles all stopped threads, without waiting. */
bool source_step(struct source *s);
void source_poll(struct source *s);

/* detach.c: handles the stop of a departing thread, which would be resumed with this signal. The
 * thread's record may be freed then. */
void leave_at_stop(struct source *s, struct ptraced *t, int sig);

/* stops.c */
void stops_handle(struct source *s, const struct standing *who, uint64_t now);
/* The thread is about to be resumed. The time for which it was stopped counts as the tracer's. */
void stops_let_go(struct ptraced *t);
/* Sends PTRACE_INTERRUPT. `sample`: the stop that it brings is a sample. */
void stops_interrupt(struct source *s, struct ptraced *t, bool sample);
/* Begins the threads in limbo whose maker's event has not come for a while. */
void stops_adopt_strays(struct source *s, uint64_t now);

/* spawn.c: starts the command, which then waits only for its exec. 0 or enum flame_exit. */
int spawn_command(struct source *s);
/* At its first exec: checks whether it may run under this tracer. 0 or enum flame_exit after a
 * line. */
int spawn_check_exec(struct source *s);
/* The command ended without exec. */
void spawn_failed(struct source *s);
/* Another program was executed: warns once when it lost its privileges. */
void spawn_warn_setid(struct source *s, pid_t pid);
/* Another program was executed, a 32-bit one: warns once. */
void spawn_warn_32bit(struct source *s, pid_t pid);

/* attach.c: lists the threads and prepares for their stacks; none is stopped yet. 0 or enum
 * flame_exit after a line. */
int attach_processes(struct source *s);
/* Attaches to the next thread, when no thread is stopped. False: enough interruptions are pending,
 * and their stops must come first. s->attach must not be NULL (NULL: all are attached to). */
bool attach_next(struct source *s);
void attach_free(struct attach *a);
/* A fresh thread has stopped: emits its beginning, if that has not been done. That happens to a
 * thread that was stopped when it was seized, or that gets a signal just then. */
void attach_on_first_stop(struct source *s, struct ptraced *t);
/* Checks whether threads that were put off can be stopped now. */
void attach_look(struct source *s);

#endif
