/*
 * calls.h: the system calls that matter: which can sleep, which can wake, on what.
 *
 * One table (calls.c) serves the seccomp filter (launch), the choice of threads to interrupt
 * (attach) and the repair of calls that were cut short. It also serves the state machine, the
 * look-up of objects and the names of frames. Adding a call is adding a row. Numbers are those of
 * <sys/syscall.h>, of the processor. Everything here is constant or a pure function.
 */
#ifndef FLAME_TRACER_OFFCPU_CALLS_H
#define FLAME_TRACER_OFFCPU_CALLS_H

#include <stdbool.h>

#include "common/compiler.h"
#include "common/sysnr.h"

enum call_flag {
    CALL_SLEEPS = 1u << 0, /* may block: both its entry and its exit are of interest */
    CALL_WAKES = 1u << 1,  /* may end another thread's sleep */
    CALL_MAPS = 1u << 2,   /* makes addresses mean other code, or memory of another kind */
    CALL_EPOLL = 1u << 3,  /* changes the members of an epoll set */
    /* Interrupting it for a ptrace stop makes it return EINTR: always (epoll_wait, semop,
       sigtimedwait, io_getevents, io_uring_enter), or for sockets with a timeout. */
    CALL_EINTR = 1u << 4,
    CALL_SHORT = 1u << 5,   /* interrupted half-way it returns a short count */
    CALL_RESUMES = 1u << 6, /* a short count can be made up for: the buffer is args[1], its
                               length args[2] */
    CALL_CLOSES = 1u << 7,  /* its descriptor, if there was one, is closed */
    CALL_CLOSES_MANY = 1u << 8,
    CALL_IN_RING = 1u << 9, /* makes other calls that do not stop */
    /* If interrupted, it is continued by restart_syscall, which has no arguments (kernel_errno.h).
     */
    CALL_RESTARTS = 1u << 10,
    CALL_EXEC = 1u << 11,
    CALL_OPENS = 1u << 12, /* a path that may be a fifo, which waits for its other end */
};

/* Object of a call, in terms of its arguments. */
enum call_object {
    CALL_ON_NOTHING,
    CALL_ON_FD,      /* descriptor in args[fd_arg] */
    CALL_ON_LOCK,    /* a lock on the file of the descriptor in args[fd_arg] */
    CALL_ON_MQUEUE,  /* the message queue of the descriptor in args[fd_arg] */
    CALL_ON_POLLFDS, /* poll: args[1] struct pollfd at args[0] */
    CALL_ON_FDSETS,  /* select: three bitmaps of args[0] descriptors */
    CALL_ON_EPOLL,   /* epoll_wait: descriptor in args[fd_arg] */
    CALL_ON_FUTEX,
    CALL_ON_PATH, /* open, rename: the path's address is in args[fd_arg] */
    CALL_ON_DISK, /* sync, msync: all data that is not written yet */
    CALL_ON_CHILD,
    CALL_ON_SIGNAL,
    CALL_ON_TIME,
    CALL_ON_SEM,
    CALL_ON_MSGQ,
    CALL_ON_PROCESS, /* kill and its kin: the target process; the signal is args[signal_arg] */
    CALL_ON_AIO,     /* io_getevents, io_uring_enter */
};

/* Direction of the data. A wake must bring what the sleeper waits for. */
enum call_flow {
    CALL_EITHER, /* not known: all ends of all waits */
    CALL_TAKES,  /* sleeps for data, makes room */
    CALL_PUTS,   /* sleeps for room, brings data */
    CALL_ENDS,   /* closes, shuts down: ends all waits at both ends */
};

/* Meaning of a result of 0 after a sleep. */
enum call_zero {
    CALL_ZERO_PLAIN,
    CALL_ZERO_TIMEOUT,
    CALL_ZERO_HANGUP,      /* the other end is closed */
    CALL_ZERO_HANGUP_IF_2, /* the other end is closed, if args[2], the requested count, is not 0 */
};

/* Relation of a call on a child (CALL_ON_CHILD) to the child. */
enum call_child {
    CALL_CHILD_ANY,
    CALL_CHILD_PID,       /* waits for the process args[fd_arg], if positive; returns its pid */
    CALL_CHILD_ID,        /* waits for the process args[fd_arg] if args[0] is P_PID; returns 0 */
    CALL_CHILD_VFORKED,   /* makes a process, whose exec or end it waits for */
    CALL_CHILD_CLONED,    /* makes a thread or a process, by the clone(2) flags in args[0]; with
                             CLONE_VFORK it waits as vfork does */
    CALL_CHILD_CLONED_AT, /* like CALL_CHILD_CLONED, with the flags at the address args[0] */
};

/* Target of a call on a process (CALL_ON_PROCESS). */
enum call_to {
    CALL_TO_PROCESS, /* the process args[0]; groups, if it is not positive */
    CALL_TO_THREAD,  /* the process of the thread args[0] */
    CALL_TO_PIDFD,   /* the process of the pidfd args[0] */
};

/* Place of the call's timeout. */
enum call_timeout {
    CALL_NO_TIMEOUT, /* none, or a socket's own */
    CALL_TIMEOUT_MS, /* milliseconds in args[timeout_arg]; negative: none */
    CALL_TIMEOUT_AT, /* duration in a struct timespec at args[timeout_arg]; NULL: none */
};

/* Arguments with which the call matters at all. The seccomp filter decides by the same rule. */
enum call_when {
    CALL_ALWAYS,
    CALL_IF_BITS,     /* args[arg] has all of bits */
    CALL_UNLESS_BITS, /* args[arg] has none of bits */
    CALL_IF_NOT_ZERO, /* args[arg], an int, is not 0 */
    CALL_IF_ONE_OF,   /* args[arg] is one of values, which ends with 0 */
};

struct call {
    int nr;
    const char *name; /* as in the manual: "read" */
    uint8_t object;   /* enum call_object */
    uint8_t fd_arg;   /* index of the argument that is the descriptor, or the path */
    uint16_t flags;   /* enum call_flag, at most, with the right arguments */
    uint8_t flow;     /* enum call_flow */
    uint8_t zero;     /* enum call_zero */
    uint8_t timeout;  /* enum call_timeout */
    uint8_t timeout_arg;
    uint8_t address_arg; /* index of the argument that is the destination's socket address, with its
                            length in the next; 0: none */
    uint8_t how_arg;     /* index of the argument with MSG_DONTWAIT and the like, for `decide` */
    uint8_t signal_arg;  /* index of the argument that is the sent signal */
    uint8_t child;       /* enum call_child */
    uint8_t to;          /* enum call_to */
    const char *shown;   /* name of its frame; NULL: name */
    struct {
        uint8_t is; /* enum call_when */
        uint8_t arg;
        uint32_t bits;
        const uint32_t *values;
    } when;
    /* Flags that apply with these arguments; NULL: all of them. */
    unsigned (*decide)(const struct call *c, const uint64_t args[6]);
};

/* Rows by number, all below CALLS_MAX; filled by calls_index, at the first look-up. */
#define CALLS_MAX 512
extern const struct call *calls_by_nr[CALLS_MAX];
void calls_index(void);

/* Row of a call; NULL for calls that do not matter. Inline, because each event needs it several
 * times. */
static inline const struct call *call_find(int nr)
{
    if (unlikely(!calls_by_nr[SYS_read]))
        calls_index();
    return nr >= 0 && nr < CALLS_MAX ? calls_by_nr[nr] : NULL;
}

/* Whether the call makes a thread or a process; false for NULL. */
bool call_makes_child(const struct call *c);

/* Flags of the call with these arguments: FUTEX_WAKE wakes and does not sleep, fcntl sleeps only
 * with F_SETLKW, and so on. 0: the call does not matter. */
unsigned call_flags(int nr, const uint64_t args[6]);

/* The table, for the filter. */
const struct call *call_table(size_t *n);

/* "read", or "syscall_999". Static memory. */
const char *call_name(int nr);
/* The name that all forms of the call share: "epoll_wait" for epoll_pwait2. */
const char *call_shown(int nr);

#endif
