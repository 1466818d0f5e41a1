/*
 * allstop.h: stops all threads of a process for a moment, so that the program does not notice.
 *
 * Each thread is examined before it is interrupted (tracer/ptrace/attach.c says why). If a thread
 * sleeps in a call that an interruption ends, flame must be able to undo the interruption. It
 * restores the call exactly, or has it made again with the rest of its timeout, if the kernel says
 * since when the thread sleeps. If neither is possible for some thread (a half-done write, a sleep
 * that no signal may end), no thread is stopped at all, and the caller tries again.
 *
 * Errors are one line on standard error and an enum flame_exit. The same thread of flame must call
 * all functions, because the kernel accepts one tracing thread.
 */
#ifndef FLAME_INJECT_ALLSTOP_H
#define FLAME_INJECT_ALLSTOP_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/user.h>

#include "common/compiler.h"
#include "inject/sigreturn_frame.h"
#include "tracer/ptrace/cutcall.h"

struct allstop_thread {
    pid_t tid;
    bool seized, stopped;
    bool plain; /* it is stopped by flame's interruption alone, and can make calls for flame */
    int signal; /* to be delivered when it is resumed; 0: none */
    struct user_regs_struct regs; /* registers with which it continues; already set */
    uint64_t asleep_since;        /* start of its call with a timeout; 0: it is in none */
    uint64_t turns;
    uintptr_t control_block; /* what its thread pointer points to; 0: not known */
    int nr;                  /* system call that it is in; -1: none, or not known */
    bool by_block;           /* the kernel continues that call by restart_syscall */
    struct cut_call seen;    /* the call that it was in just before it was interrupted */
};

struct allstop;

enum allstop_answer {
    ALLSTOP_OK,
    ALLSTOP_AGAIN,   /* a thread cannot be stopped just now; no thread is stopped */
    ALLSTOP_GONE,    /* the process has ended */
    ALLSTOP_REFUSED, /* it may not be traced, and a line has been printed */
};

struct allstop *allstop_new(pid_t pid);
/* Resumes all stopped threads. */
void allstop_free(struct allstop *a);

/* Stops all threads. After ALLSTOP_OK they stay stopped until allstop_go. The effect of the
 * interruption on a thread's call is undone as soon as the thread is stopped, so that it continues
 * correctly if flame is killed. */
enum allstop_answer allstop_stop(struct allstop *a);
void allstop_go(struct allstop *a);

/* The stopped threads. */
const struct allstop_thread *allstop_threads(const struct allstop *a, size_t *n);

/* Reason, for a message, why the last stop failed: "thread 12 sleeps in ...". */
const char *allstop_why(const struct allstop *a);

/* Durations of all stops so far, in ns: *ns becomes the array, and the result its length. A stop
 * lasts from the first thread's interruption until the last stopped thread is resumed. */
size_t allstop_times(const struct allstop *a, const uint64_t **ns);

/*
 * Has a stopped thread make a system call. Returns the call's result, or -errno. If flame is killed
 * meanwhile, the thread restores itself where that is possible (sigreturn_frame.h). -EAGAIN: no
 * thread can make the call just now. -EPERM, without a call: a seccomp filter of the thread is
 * known to forbid it (seccomp_query.h).
 */
long allstop_call(struct allstop *a, const struct sigreturn_frame_code *code, long nr,
                  const unsigned long args[6]);

#endif
