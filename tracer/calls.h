/*
 * calls.h: the system calls that matter: which can sleep, which can wake, on what.
 *
 * One table serves the seccomp filter (launch), the decision whom to interrupt
 * (attach), the state machine and the names of frames. x86-64 numbers by <sys/syscall.h>.
 */
#ifndef FLAME_TRACER_CALLS_H
#define FLAME_TRACER_CALLS_H

#include <stdbool.h>

#include "common/compiler.h"

enum call_flag {
    CALL_SLEEPS = 1u << 0, /* may block: both its entry and its exit are of interest */
    CALL_WAKES = 1u << 1,  /* may end somebody else's sleep */
    CALL_MAPS = 1u << 2,   /* makes addresses mean other code */
    CALL_EPOLL = 1u << 3,  /* changes the members of an epoll set */
    /* Interrupting it for a ptrace stop makes it return EINTR: always (epoll_wait, semop,
       sigtimedwait, io_getevents, io_uring_enter), or for sockets with a timeout. */
    CALL_EINTR = 1u << 4,
    CALL_SHORT = 1u << 5, /* interrupted half-way it returns a short count */
};

/* What its object is, in terms of its arguments. */
enum call_object {
    CALL_ON_NOTHING,
    CALL_ON_FD,    /* descriptor in args[fd_arg] */
    CALL_ON_FDS,   /* poll, select */
    CALL_ON_EPOLL, /* epoll_wait: descriptor in args[fd_arg] */
    CALL_ON_FUTEX,
    CALL_ON_PATH, /* open, rename: the path's address is in args[fd_arg] */
    CALL_ON_CHILD,
    CALL_ON_SIGNAL,
    CALL_ON_TIME,
    CALL_ON_SEM,
    CALL_ON_MSGQ,
    CALL_ON_PROCESS, /* kill and its kin: whom it goes to */
    CALL_ON_AIO,     /* io_getevents, io_uring_enter */
};

struct call {
    int nr;
    const char *name; /* as in the manual: "read" */
    uint8_t object;   /* enum call_object */
    uint8_t fd_arg;   /* which argument is the descriptor, or the path */
    uint16_t flags;   /* enum call_flag, what it may be with the right arguments */
};

/* NULL for calls that do not matter. */
const struct call *call_find(int nr);

/* The flags it has with these arguments: FUTEX_WAKE wakes and does not sleep, fcntl
 * sleeps only with F_SETLKW, and so on. 0: it does not matter. */
unsigned call_flags(int nr, const uint64_t args[6]);

/* The table, for the filter. */
const struct call *call_table(size_t *n);

/* "read", or "syscall_999". Static memory. */
const char *call_name(int nr);

#endif
