/*
 * clone_exec_exit.h: clone, exec and exit events of traced threads, which stops.c and detach.c pass
 * on. Part of the event source.
 */
#ifndef FLAME_TRACER_PTRACE_CLONE_EXEC_EXIT_H
#define FLAME_TRACER_PTRACE_CLONE_EXEC_EXIT_H

#include <sys/user.h>

#include "tracer/ptrace/source_state.h"

/* Flags of the clone, clone3, fork or vfork that the thread is in. */
uint64_t clone_exec_clone_flags(pid_t tid, const struct callregs *r);

/* A PTRACE_EVENT_* stop other than seccomp's and STOP. */
void clone_exec_event(struct source *s, struct ptraced *t, int event, uint64_t now);
/* The thread has ended; `t` is no longer valid. */
void clone_exec_end(struct source *s, struct ptraced *t, int status, uint64_t now);
/* The thread is not traced any more; `t` is no longer valid. */
void clone_exec_forget(struct source *s, struct ptraced *t);
/* Handles a stop or end of a thread whose clone event has not come yet (t is NULL, or in limbo). */
void clone_exec_stranger(struct source *s, struct ptraced *t, const struct standing *who);

/* stops.c. stops_regs reads the registers into t->regs. */
void stops_resume(struct source *s, struct ptraced *t, int sig);
bool stops_regs(struct ptraced *t);
/* Ends the thread's state `put_off`: it is stopped, will stop, or has ended. */
void stops_not_put_off(struct source *s, struct ptraced *t);

#endif
