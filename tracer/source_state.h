/*
 * source_state.h: what the files of the event source share: source.c (the loop), spawn.c
 * and attach.c (the beginnings), stops.c (what to do at a stop).
 */
#ifndef FLAME_TRACER_SOURCE_STATE_H
#define FLAME_TRACER_SOURCE_STATE_H

#include <sys/wait.h>

#include "tracer/source.h"
#include "tracer/traced.h"

#define CS_64BIT 0x33 /* code segment of 64-bit programs */

struct source {
    struct source_options opt;
    struct source_client client;
    struct traced *threads;
    int ptrace_options;
    bool filtered; /* calls stop by the seccomp filter; else all do */
    bool silent;   /* nothing is told any more */
    bool leaving;  /* no thread is to stop at calls any more */

    pid_t command;
    bool running; /* the command's exec has happened */
    bool ended;   /* the command has ended */
    int wait_status;
    int exec_error;               /* read end: why it could not be run */
    int failed;                   /* enum flame_exit, after a line */
    bool over;                    /* time or a signal ended the tracing */
    uint64_t tick, beat, sampled; /* present period; when the last were */

    uint64_t began;      /* first stop, for the duration */
    unsigned interrupts; /* sent and not answered yet */
    unsigned put_off;
    unsigned limbo;

    uint64_t stops;
    uint64_t handled_ns; /* what handling them took */
    uint64_t switch_ns;  /* what a stop costs besides */
};

/* source.c */
void source_tell(struct source *s, struct off_event *e);

/* stops.c */
void stops_handle(struct source *s, pid_t tid, int status, uint64_t now);
/* PTRACE_INTERRUPT; its stop is a sample if so told. */
void stops_interrupt(struct source *s, struct thread *t, bool sample);
/* Those whose maker never said so. */
void stops_adopt_strays(struct source *s, uint64_t now);

/* spawn.c: the command, stopped by nothing but the wait for its exec. 0 or enum flame_exit. */
int spawn_command(struct source *s);
/* At its first exec: may it be run under this tracer? 0 or enum flame_exit after a line. */
int spawn_check_exec(struct source *s);
/* It ended without exec. */
void spawn_failed(struct source *s);
/* Another program was executed: warns once when it lost its privileges. */
void spawn_warn_setid(struct source *s, pid_t pid);
/* Another program was executed, a 32-bit one: warns once. */
void spawn_warn_32bit(struct source *s, pid_t pid);

/* attach.c */
int attach_processes(struct source *s);
/* Looks whether threads that were put off can be stopped now. */
void attach_look(struct source *s);

#endif
