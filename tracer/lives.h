/*
 * lives.h: births, executions and ends of traced threads, for stops.c. Part of the event
 * source.
 */
#ifndef FLAME_TRACER_LIVES_H
#define FLAME_TRACER_LIVES_H

#include <sys/user.h>

#include "tracer/source_state.h"

/* The flags with which a thread at a clone, clone3, fork or vfork makes another. */
uint64_t lives_clone_flags(pid_t tid, const struct user_regs_struct *r);

/* A PTRACE_EVENT_* stop other than seccomp's and STOP. */
void lives_event(struct source *s, struct thread *t, int event, uint64_t now);
/* It is gone; `t` is no longer valid. */
void lives_end(struct source *s, struct thread *t, int status, uint64_t now);
/* A stop or end of a thread nobody told us of yet (t is NULL, or in limbo). */
void lives_stranger(struct source *s, struct thread *t, pid_t tid, int status, uint64_t now);

/* stops.c. The registers, into t->regs. */
void stops_resume(struct source *s, struct thread *t, int sig);
bool stops_regs(struct thread *t);

#endif
