/*
 * allstop.h: all threads of a process stopped for a moment, so that they do not notice.
 *
 * Threads are looked at before they are touched (tracer/ptrace/attach.c has the why). Of one that
 * sleeps in a call which an interruption ends, the interruption must be one that can be undone:
 * exactly, or by making the call again with what is left of its timeout, which is known if the
 * kernel says since when the thread sleeps. While there is a thread of which neither is true (a
 * write that is half done, a sleep that no signal may end), nobody is stopped at all, and the
 * caller tries again.
 *
 * Errors are one line on standard error and an enum flame_exit. All functions are to be called by
 * the same thread of flame's, as the kernel knows one tracer of a thread.
 */
#ifndef FLAME_INJECT_ALLSTOP_H
#define FLAME_INJECT_ALLSTOP_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/user.h>

#include "common/compiler.h"
#include "inject/sigreturn_frame.h"

struct allstop_thread {
    pid_t tid;
    bool seized, stopped;
    bool plain; /* it stands because of our interruption alone, and can make calls for us */
    int signal; /* to be delivered when it goes on; 0: none */
    struct user_regs_struct regs; /* as it is to go on; it has them already */
    uint64_t asleep_since;        /* in a call with a timeout; 0: it is in none */
    uint64_t turns;
};

struct allstop;

enum allstop_answer {
    ALLSTOP_OK,
    ALLSTOP_AGAIN,   /* somebody cannot be stopped just now; nobody stands */
    ALLSTOP_GONE,    /* the process has ended */
    ALLSTOP_REFUSED, /* it may not be traced, and a line has said why */
};

struct allstop *allstop_new(pid_t pid);
/* Lets everybody go who stands. */
void allstop_free(struct allstop *a);

/* Stops all threads. After ALLSTOP_OK they stand until allstop_go. What an interruption did to a
 * thread's call is undone as soon as it stands, so that it goes on rightly if flame is killed. */
enum allstop_answer allstop_stop(struct allstop *a);
void allstop_go(struct allstop *a);

/* Those that stand. */
const struct allstop_thread *allstop_threads(const struct allstop *a, size_t *n);

/* Why the last stop was not made, for a message: "thread 12 sleeps in ...". */
const char *allstop_why(const struct allstop *a);

/* How long all stops took so far: how many there were, and how long the n-th took, in ns, from the
 * first thread's interruption to the last one's going on who stood. */
size_t allstop_times(const struct allstop *a, const uint64_t **ns);

/*
 * Has a thread that stands make a system call: its result, or -errno. If flame is killed meanwhile,
 * the thread finds back by itself (sigreturn_frame.h), where that can be. -EAGAIN: no thread can
 * make it just now. -EPERM, and no call is made: a seccomp filter of the thread is known to forbid
 * it (seccomp_query.h).
 */
long allstop_call(struct allstop *a, const struct sigreturn_frame_code *code, long nr,
                  const unsigned long args[6]);

#endif
