/*
 * offcpu_ops.h: the queries that the state machine makes while it handles an event.
 *
 * offcpu_recorder.c answers them from /proc, the traced thread's memory and its stack; unit tests
 * answer from tables. A tid in a query is a traced thread that is stopped or asleep. Any query may
 * fail: then the value is unknown.
 */
#ifndef FLAME_TRACER_OFFCPU_OFFCPU_OPS_H
#define FLAME_TRACER_OFFCPU_OFFCPU_OPS_H

#include "tracer/offcpu/event.h"

/* Object that a call sleeps on, or whose sleepers a call may wake. Two ends of one thing have the
 * same identity: kind, a and b; off_same compares them. */
enum off_object_kind {
    OFF_ON_NOTHING, /* not known */
    OFF_ON_FUTEX,   /* private: a = address space's number, b = address; shared: inode, offset */
    OFF_ON_PIPE,    /* a = inode; also fifos */
    OFF_ON_UNIX,    /* a, b = inodes of both ends, smaller first */
    OFF_ON_INET,    /* a connection; a, b = hash of the two ends, the same seen from both */
    OFF_ON_EVENTFD, /* a = id */
    OFF_ON_TIMERFD,
    OFF_ON_SIGNALFD,
    OFF_ON_INOTIFY,
    OFF_ON_SET,   /* epoll, poll, select: members in off_set */
    OFF_ON_FILE,  /* a = device, b = inode: disk */
    OFF_ON_TTY,   /* terminal or pty: a = device number of the pair */
    OFF_ON_CHILD, /* a = pid waited for, 0: any child; also a pidfd */
    OFF_ON_SIGNAL,
    OFF_ON_SLEEP,  /* nothing but time */
    OFF_ON_SEM,    /* System V semaphores: a = id */
    OFF_ON_MSGQ,   /* System V messages: a = id */
    OFF_ON_MQUEUE, /* POSIX messages: a = inode */
    OFF_ON_LOCK,   /* flock, F_SETLKW, F_OFD_SETLKW: a = device, b = inode */
    OFF_ON_AIO,    /* io_getevents, io_uring_enter */
    OFF_ON_OTHER,  /* another descriptor: a = device, b = inode */
    OFF_ON_KINDS
};

struct off_object {
    enum off_object_kind kind;
    /* Not part of the identity: */
    uint16_t side;  /* OFF_ON_UNIX, OFF_ON_INET, OFF_ON_TTY: the end, 1 or 2; one end reads what the
                       other writes. 0: not known, or it has no ends */
    uint16_t wants; /* member of a set: enum off_wants; 0: data */
    uint64_t a, b;
};

enum off_wants { OFF_WANTS_DATA = 1, OFF_WANTS_ROOM = 2 };

static inline bool off_same(const struct off_object *x, const struct off_object *y)
{
    return x->kind == y->kind && x->a == y->a && x->b == y->b;
}

/* Orders objects by identity; for qsort and bsearch. */
static inline int off_order(const void *a, const void *b)
{
    const struct off_object *x = (const struct off_object *)a, *y = (const struct off_object *)b;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

#define OFF_SET_MAX 4096

struct off_set {
    struct off_object *members; /* owned by the ops; valid until the next query */
    size_t n;
};

/* A node of the trace's tree of stacks; 0: none. */
typedef uint32_t off_stack;

struct off_sleep; /* sink.h */

struct offcpu_ops {
    void *arg;
    /* The thread's user stack, interned, above the thread's root; 0: it cannot be read. The thread
     * is at a stop. */
    off_stack (*stack)(void *arg, pid_t tid);
    /* A number that two stacks share, of any threads, if their innermost frames are at the same
     * places in the code; 0: unknown. May be NULL itself. */
    uint32_t (*likeness)(void *arg, off_stack stack);
    /* The scheduler's figures of the thread. False: they are not known. */
    bool (*sched)(void *arg, pid_t tid, struct off_sched *out);
    /* Number of page faults of the thread since it began. False: not known. May be NULL. */
    bool (*faults)(void *arg, pid_t tid, uint64_t *faults);
    /* The object that the call sleeps on or acts on. set->n > 0 for OFF_ON_SET. */
    void (*object)(void *arg, pid_t tid, int nr, const uint64_t args[6], struct off_object *out,
                   struct off_set *set);
    /* The objects that the thread's process is about to close by its end or by exec: pipes,
     * sockets, and files as locks. May be NULL. */
    void (*held)(void *arg, pid_t tid, bool by_exec, struct off_set *set);
    /* No query: the machine needs the sleeper's stack and objects no more. If the thread is
     * stopped, it may be resumed. A query of `peer` for this object comes next, which may take
     * long. May be NULL. */
    void (*may_resume)(void *arg, const struct off_sleep *s, const struct off_object *object);
    /* Name of the untraced process that can end this sleep, which waited for this object:
     * "[untraced: comm]"; NULL: unknown. May be NULL itself. The name lives as long as the ops. */
    const char *(*peer)(void *arg, const struct off_sleep *s, const struct off_object *object);
    /* The name of a process that sent a signal, like that of `peer`. May be NULL itself. */
    const char *(*sender)(void *arg, pid_t pid);
};

#endif
