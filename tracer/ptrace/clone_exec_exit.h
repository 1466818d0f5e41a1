/*
 * clone_exec_exit.h: births, executions and ends of traced threads, which stops.c and detach.c hand
 * over. Part of the event source.
 */
#ifndef FLAME_TRACER_PTRACE_CLONE_EXEC_EXIT_H
#define FLAME_TRACER_PTRACE_CLONE_EXEC_EXIT_H

#include <sys/user.h>

#include "tracer/ptrace/source_state.h"

/* The flags with which a thread at a clone, clone3, fork or vfork makes another. */
uint64_t clone_exec_clone_flags(pid_t tid, const struct callregs *r);

/* A PTRACE_EVENT_* stop other than seccomp's and STOP. */
void clone_exec_event(struct source *s, struct ptraced *t, int event, uint64_t now);
/* The thread has ended; `t` is no longer valid. */
void clone_exec_end(struct source *s, struct ptraced *t, int status, uint64_t now);
/* The thread is not traced any more; `t` is no longer valid. */
void clone_exec_forget(struct source *s, struct ptraced *t);
/* A stop or end of a thread whose birth nobody has told us of yet (t is NULL, or in limbo). */
void clone_exec_stranger(struct source *s, struct ptraced *t, const struct standing *who);

/* stops.c. The registers, into t->regs. */
void stops_resume(struct source *s, struct ptraced *t, int sig);
bool stops_regs(struct ptraced *t);
/* The thread is not put off any more: it stands, is on its way to a stop, or is gone. */
void stops_not_put_off(struct source *s, struct ptraced *t);

#endif
