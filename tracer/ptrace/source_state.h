/*
 * source_state.h: what the files of the event source share: source.c (the loop), spawn.c
 * and attach.c (the beginnings), stops.c (what to do at a stop).
 */
#ifndef FLAME_TRACER_PTRACE_SOURCE_STATE_H
#define FLAME_TRACER_PTRACE_SOURCE_STATE_H

#include <sys/wait.h>

#include "tracer/ptrace/notice.h"
#include "tracer/ptrace/ptraced.h"
#include "tracer/ptrace/source.h"

struct attach;

/* A command that has been sent SIGTERM is waited for so long; then the tracing ends without it. */
#define SOURCE_GRACE_NS 700000000u

struct source {
    struct source_options opt;
    struct source_client client;
    struct ptraced_table *threads;
    int ptrace_options;
    bool filtered;     /* calls stop by the seccomp filter; else all do */
    bool silent;       /* nothing is told any more */
    bool leaving;      /* threads are let go of, one after the other */
    bool telling_ends; /* threads are told to have ended, one after the other */

    pid_t command;
    bool running; /* the command's exec has happened */
    bool ended;   /* the command has ended */
    int wait_status;
    int exec_error;               /* read end: why it could not be run */
    int failed;                   /* enum flame_exit, after a line */
    bool over;                    /* time or a signal ended the tracing */
    uint64_t asked_ns;            /* when the command was first sent SIGTERM through us; 0: not */
    bool outlived;                /* it was asked to end and has not: over for that reason */
    uint64_t tick, beat, sampled; /* present period; when the last were */

    uint64_t began;        /* first stop, for the duration */
    unsigned interrupts;   /* sent and not answered yet */
    unsigned put_off;      /* threads that are not interrupted yet */
    unsigned unseen;       /* those of them that were told to be in a call */
    unsigned limbo;        /* threads that stand at birth, and nobody has told who made them */
    struct attach *attach; /* under way; NULL: not, or not any more */

    struct notice notice;
    uint64_t stops;
};

/* A thread that stands: what waitpid said of it, and since when: an estimate, and the earliest. */
struct standing {
    pid_t tid;
    int status;
    uint64_t since, earliest;
};

/* source.c. Tells the client, unless nothing is to be told of this thread. */
void source_tell(struct source *s, struct ptraced *t, struct off_event *e);
/* Waits for the next to stand and handles it, or does what else there is to do; false: nothing is
 * left to wait for. source_breathe handles whoever stands, without waiting. */
bool source_step(struct source *s);
void source_breathe(struct source *s);

/* leave.c: a departing thread stands, and would go on with this signal. It may be gone then. */
void leave_at_stop(struct source *s, struct ptraced *t, int sig);

/* stops.c */
void stops_handle(struct source *s, const struct standing *who, uint64_t now);
/* The thread is about to go on. The time for which it stood counts as the tracer's. */
void stops_let_go(struct ptraced *t);
/* Sends PTRACE_INTERRUPT; the stop that it brings is a sample if so told. */
void stops_interrupt(struct source *s, struct ptraced *t, bool sample);
/* Begins the threads in limbo whose maker has not told of them for a while. */
void stops_adopt_strays(struct source *s, uint64_t now);

/* spawn.c: the command, stopped by nothing but the wait for its exec. 0 or enum flame_exit. */
int spawn_command(struct source *s);
/* At its first exec: may it be run under this tracer? 0 or enum flame_exit after a line. */
int spawn_check_exec(struct source *s);
/* The command ended without exec. */
void spawn_failed(struct source *s);
/* Another program was executed: warns once when it lost its privileges. */
void spawn_warn_setid(struct source *s, pid_t pid);
/* Another program was executed, a 32-bit one: warns once. */
void spawn_warn_32bit(struct source *s, pid_t pid);

/* attach.c: the threads are listed, and their stacks prepared for; none was stopped yet. 0 or
 * enum flame_exit after a line. */
int attach_processes(struct source *s);
/* Goes on to the next thread, when nobody stands. False: there are enough on their way to a
 * stop, which is to be waited for. Not to be called when s->attach is NULL: all are attached to. */
bool attach_next(struct source *s);
void attach_free(struct attach *a);
/* A fresh thread stands: tells its beginning, if its turn has not come yet. So it is of one that
 * was stopped when it was seized, or gets a signal just then. */
void attach_stands(struct source *s, struct ptraced *t);
/* Looks whether threads that were put off can be stopped now. */
void attach_look(struct source *s);

#endif
