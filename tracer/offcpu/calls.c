/*
 * calls.c: the table of system calls, and how their arguments change their flags.
 *
 * Calls that block only for as long as the kernel needs to look something up (stat, a name in a
 * directory) are not in it: tracing costs more than such a call.
 */
#define _GNU_SOURCE
#include "tracer/offcpu/calls.h"

#include <asm/ioctls.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "common/sysnr.h"
#if defined(__x86_64__)
#include "tracer/offcpu/calls_x86_64.h"
#else
#include "tracer/offcpu/calls_aarch64.h"
#endif

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

#define S CALL_SLEEPS
#define W CALL_WAKES
#define RING_GETEVENTS 1 /* IORING_ENTER_GETEVENTS */

#define EINTR_TOO CALL_EINTR
#define SHORT CALL_SHORT
#define RESTARTS CALL_RESTARTS

/* ---- flags by arguments ---- */

static unsigned futex_flags(const struct call *c, const uint64_t args[6])
{
    (void)c;
    switch (args[1] & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
    case FUTEX_WAIT_REQUEUE_PI:
        return S;
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
    case FUTEX_WAKE_OP:
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
    case FUTEX_CMP_REQUEUE_PI:
    case FUTEX_UNLOCK_PI:
        return W;
    default:
        return 0;
    }
}

static unsigned fcntl_flags(const struct call *c, const uint64_t args[6])
{
    return args[1] == F_SETLKW || args[1] == F_OFD_SETLKW ? c->flags : W;
}

static unsigned flock_flags(const struct call *c, const uint64_t args[6])
{
    return args[1] & LOCK_NB || (args[1] & ~(uint64_t)LOCK_NB) == LOCK_UN ? W : c->flags;
}

static unsigned send_flags(const struct call *c, const uint64_t args[6])
{
    return args[c->how_arg] & MSG_DONTWAIT ? W : c->flags;
}

/* MSG_WAITALL waits for the whole count, so the call may be interrupted half-way. */
static unsigned receive_flags(const struct call *c, const uint64_t args[6])
{
    if (args[c->how_arg] & MSG_DONTWAIT)
        return W;
    return args[c->how_arg] & MSG_WAITALL ? c->flags : c->flags & ~(unsigned)SHORT;
}

/* Once the call has submitted something it returns that count, regardless of the event it waited
 * for. */
static unsigned ring_flags(const struct call *c, const uint64_t args[6])
{
    if (!(args[3] & RING_GETEVENTS))
        return c->flags & ~(unsigned)(EINTR_TOO | SHORT);
    return args[1] ? c->flags : c->flags & ~(unsigned)SHORT;
}

/* ---- arguments with which a call matters ---- */

static const uint32_t lock_commands[] = {F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW, 0};
/* Commands that drain a terminal's output, which is what blocks. */
static const uint32_t drain_commands[] = {TCSBRK, TCSBRKP, TCSETSW, TCSETSF, 0};

static const struct call calls[] = {
    {SYS_read, "read", CALL_ON_FD, 0, S | W | EINTR_TOO, .flow = CALL_TAKES,
     .zero = CALL_ZERO_HANGUP_IF_2},
    {SYS_readv, "readv", CALL_ON_FD, 0, S | W | EINTR_TOO, .flow = CALL_TAKES,
     .zero = CALL_ZERO_HANGUP},
    {SYS_pread64, "pread64", CALL_ON_FD, 0, S, .flow = CALL_TAKES, .shown = "pread"},
    {SYS_preadv, "preadv", CALL_ON_FD, 0, S, .flow = CALL_TAKES},
    {SYS_preadv2, "preadv2", CALL_ON_FD, 0, S | W | EINTR_TOO, .flow = CALL_TAKES,
     .zero = CALL_ZERO_HANGUP},
    {SYS_write, "write", CALL_ON_FD, 0, S | W | EINTR_TOO | SHORT | CALL_RESUMES,
     .flow = CALL_PUTS},
    {SYS_writev, "writev", CALL_ON_FD, 0, S | W | EINTR_TOO | SHORT, .flow = CALL_PUTS},
    {SYS_pwrite64, "pwrite64", CALL_ON_FD, 0, S | W, .flow = CALL_PUTS, .shown = "pwrite"},
    {SYS_pwritev, "pwritev", CALL_ON_FD, 0, S | W, .flow = CALL_PUTS},
    {SYS_pwritev2, "pwritev2", CALL_ON_FD, 0, S | W | EINTR_TOO | SHORT, .flow = CALL_PUTS},
    {SYS_getdents64, "getdents64", CALL_ON_FD, 0, S, .flow = CALL_EITHER},
    {SYS_readahead, "readahead", CALL_ON_FD, 0, S, .flow = CALL_EITHER},
    {SYS_sendfile, "sendfile", CALL_ON_FD, 0, S | W | EINTR_TOO | SHORT, .flow = CALL_PUTS},
    {SYS_splice, "splice", CALL_ON_FD, 0, S | W | EINTR_TOO | SHORT, .flow = CALL_EITHER},
    {SYS_tee, "tee", CALL_ON_FD, 0, S | W | EINTR_TOO | SHORT, .flow = CALL_EITHER},
    {SYS_vmsplice, "vmsplice", CALL_ON_FD, 0, S | W | EINTR_TOO | SHORT, .flow = CALL_PUTS},
    {SYS_copy_file_range, "copy_file_range", CALL_ON_FD, 0, S | W | SHORT, .flow = CALL_EITHER},
    {SYS_close, "close", CALL_ON_FD, 0, W | CALL_CLOSES, .flow = CALL_ENDS},
    {SYS_dup3, "dup3", CALL_ON_FD, 1, W | CALL_CLOSES, .flow = CALL_ENDS},
    {SYS_close_range, "close_range", CALL_ON_NOTHING, 0, W | CALL_CLOSES_MANY, .flow = CALL_EITHER},
    {SYS_ioctl, "ioctl", CALL_ON_FD, 0, S,
     .when = {.is = CALL_IF_ONE_OF, .arg = 1, .values = drain_commands}},

    {SYS_openat, "openat", CALL_ON_PATH, 1, S | W | CALL_OPENS, .shown = "open"},
    {SYS_openat2, "openat2", CALL_ON_PATH, 1, S | W | CALL_OPENS, .shown = "open"},
    {SYS_unlinkat, "unlinkat", CALL_ON_PATH, 1, S | W, .flow = CALL_EITHER},
    {SYS_renameat, "renameat", CALL_ON_PATH, 3, S | W, .flow = CALL_EITHER},
    {SYS_renameat2, "renameat2", CALL_ON_PATH, 3, S | W, .flow = CALL_EITHER},
    {SYS_mkdirat, "mkdirat", CALL_ON_PATH, 1, S | W, .flow = CALL_EITHER},
    {SYS_truncate, "truncate", CALL_ON_PATH, 0, S | W, .flow = CALL_EITHER},
    {SYS_ftruncate, "ftruncate", CALL_ON_FD, 0, S | W, .flow = CALL_EITHER},
    {SYS_fallocate, "fallocate", CALL_ON_FD, 0, S | W, .flow = CALL_EITHER},
    {SYS_fsync, "fsync", CALL_ON_FD, 0, S, .flow = CALL_EITHER},
    {SYS_fdatasync, "fdatasync", CALL_ON_FD, 0, S, .flow = CALL_EITHER},
    {SYS_sync_file_range, "sync_file_range", CALL_ON_FD, 0, S, .flow = CALL_EITHER},
    {SYS_syncfs, "syncfs", CALL_ON_FD, 0, S, .flow = CALL_EITHER},
    {SYS_sync, "sync", CALL_ON_DISK, 0, S, .flow = CALL_EITHER},
    {SYS_msync, "msync", CALL_ON_DISK, 0, S, .flow = CALL_EITHER},
    {SYS_fcntl, "fcntl", CALL_ON_LOCK, 0, S | W,
     .when = {.is = CALL_IF_ONE_OF, .arg = 1, .values = lock_commands}, .decide = fcntl_flags},
    {SYS_flock, "flock", CALL_ON_LOCK, 0, S | W, .decide = flock_flags},

    {SYS_ppoll, "ppoll", CALL_ON_POLLFDS, 0, S, .zero = CALL_ZERO_TIMEOUT, .shown = "poll"},
    {SYS_pselect6, "pselect6", CALL_ON_FDSETS, 0, S, .zero = CALL_ZERO_TIMEOUT, .shown = "select"},
    {SYS_epoll_pwait, "epoll_pwait", CALL_ON_EPOLL, 0, S | EINTR_TOO, .zero = CALL_ZERO_TIMEOUT,
     .timeout = CALL_TIMEOUT_MS, .timeout_arg = 3, .shown = "epoll_wait",
     .when = {.is = CALL_IF_NOT_ZERO, .arg = 3}},
    {SYS_epoll_pwait2, "epoll_pwait2", CALL_ON_EPOLL, 0, S | EINTR_TOO, .zero = CALL_ZERO_TIMEOUT,
     .timeout = CALL_TIMEOUT_AT, .timeout_arg = 3, .shown = "epoll_wait"},
    {SYS_epoll_ctl, "epoll_ctl", CALL_ON_FD, 0, W | CALL_EPOLL, .flow = CALL_EITHER},

    {SYS_connect, "connect", CALL_ON_FD, 0, S | W | EINTR_TOO, .flow = CALL_PUTS, .address_arg = 1},
    {SYS_accept, "accept", CALL_ON_FD, 0, S | W | EINTR_TOO, .flow = CALL_TAKES},
    {SYS_accept4, "accept4", CALL_ON_FD, 0, S | W | EINTR_TOO, .flow = CALL_TAKES,
     .shown = "accept"},
    {SYS_recvfrom, "recvfrom", CALL_ON_FD, 0, S | W | EINTR_TOO | SHORT, .flow = CALL_TAKES,
     .zero = CALL_ZERO_HANGUP_IF_2, .how_arg = 3, .shown = "recv", .decide = receive_flags},
    {SYS_recvmsg, "recvmsg", CALL_ON_FD, 0, S | W | EINTR_TOO | SHORT, .flow = CALL_TAKES,
     .zero = CALL_ZERO_HANGUP, .how_arg = 2, .decide = receive_flags},
    {SYS_recvmmsg, "recvmmsg", CALL_ON_FD, 0, S | W | EINTR_TOO | SHORT, .flow = CALL_TAKES,
     .how_arg = 3, .decide = send_flags},
    {SYS_sendto, "sendto", CALL_ON_FD, 0, S | W | EINTR_TOO | SHORT | CALL_RESUMES,
     .flow = CALL_PUTS, .address_arg = 4, .how_arg = 3, .shown = "send", .decide = send_flags},
    {SYS_sendmsg, "sendmsg", CALL_ON_FD, 0, S | W | EINTR_TOO | SHORT, .flow = CALL_PUTS,
     .how_arg = 2, .decide = send_flags},
    {SYS_sendmmsg, "sendmmsg", CALL_ON_FD, 0, S | W | EINTR_TOO | SHORT, .flow = CALL_PUTS,
     .how_arg = 3, .decide = send_flags},
    {SYS_shutdown, "shutdown", CALL_ON_FD, 0, W, .flow = CALL_ENDS},

    {SYS_futex, "futex", CALL_ON_FUTEX, 0, S | W | RESTARTS, .decide = futex_flags},
    {SYS_futex_waitv, "futex_waitv", CALL_ON_FUTEX, 0, S, .shown = "futex"},
    {SYS_futex_wake, "futex_wake", CALL_ON_FUTEX, 0, W, .shown = "futex"},
    {SYS_futex_wait, "futex_wait", CALL_ON_FUTEX, 0, S, .shown = "futex"},
    {SYS_futex_requeue, "futex_requeue", CALL_ON_FUTEX, 0, W, .shown = "futex"},

    {SYS_nanosleep, "nanosleep", CALL_ON_TIME, 0, S | RESTARTS, .zero = CALL_ZERO_TIMEOUT},
    {SYS_clock_nanosleep, "clock_nanosleep", CALL_ON_TIME, 0, S | RESTARTS,
     .zero = CALL_ZERO_TIMEOUT, .shown = "nanosleep"},

    {SYS_wait4, "wait4", CALL_ON_CHILD, 0, S, .child = CALL_CHILD_PID,
     .when = {.is = CALL_UNLESS_BITS, .arg = 2, .bits = WNOHANG}},
    {SYS_waitid, "waitid", CALL_ON_CHILD, 1, S, .child = CALL_CHILD_ID,
     .when = {.is = CALL_UNLESS_BITS, .arg = 3, .bits = WNOHANG}},
    /* Only with CLONE_VFORK: the parent sleeps until the child runs exec. */
    {SYS_clone, "clone", CALL_ON_CHILD, 0, S, .child = CALL_CHILD_CLONED,
     .when = {.is = CALL_IF_BITS, .arg = 0, .bits = CLONE_VFORK}},
    {SYS_clone3, "clone3", CALL_ON_CHILD, 0, S, .child = CALL_CHILD_CLONED_AT},

    /* Calls that end the wait of a parent that used CLONE_VFORK. */
    {SYS_execve, "execve", CALL_ON_PATH, 0, W | CALL_EXEC, .flow = CALL_EITHER},
    {SYS_execveat, "execveat", CALL_ON_PATH, 1, W | CALL_EXEC, .flow = CALL_EITHER},

    /* Ends the calls of all other threads. */
    {SYS_exit_group, "exit_group", CALL_ON_NOTHING, 0, W, .flow = CALL_EITHER},

    {SYS_rt_sigsuspend, "rt_sigsuspend", CALL_ON_SIGNAL, 0, S, .shown = "sigsuspend"},
    {SYS_rt_sigtimedwait, "rt_sigtimedwait", CALL_ON_SIGNAL, 0, S | EINTR_TOO,
     .timeout = CALL_TIMEOUT_AT, .timeout_arg = 2, .shown = "sigtimedwait"},
    {SYS_kill, "kill", CALL_ON_PROCESS, 0, W, .signal_arg = 1,
     .when = {.is = CALL_IF_NOT_ZERO, .arg = 1}},
    {SYS_tkill, "tkill", CALL_ON_PROCESS, 0, W, .signal_arg = 1, .to = CALL_TO_THREAD,
     .when = {.is = CALL_IF_NOT_ZERO, .arg = 1}},
    {SYS_tgkill, "tgkill", CALL_ON_PROCESS, 0, W, .signal_arg = 2,
     .when = {.is = CALL_IF_NOT_ZERO, .arg = 2}},
    {SYS_rt_sigqueueinfo, "rt_sigqueueinfo", CALL_ON_PROCESS, 0, W, .signal_arg = 1},
    {SYS_rt_tgsigqueueinfo, "rt_tgsigqueueinfo", CALL_ON_PROCESS, 0, W, .signal_arg = 2},
    {SYS_pidfd_send_signal, "pidfd_send_signal", CALL_ON_PROCESS, 0, W, .signal_arg = 1,
     .to = CALL_TO_PIDFD},

    {SYS_semop, "semop", CALL_ON_SEM, 0, S | W | EINTR_TOO, .flow = CALL_EITHER},
    {SYS_semtimedop, "semtimedop", CALL_ON_SEM, 0, S | W | EINTR_TOO, .timeout = CALL_TIMEOUT_AT,
     .timeout_arg = 3, .shown = "semop"},
    {SYS_semctl, "semctl", CALL_ON_SEM, 0, W, .flow = CALL_EITHER},
    {SYS_msgsnd, "msgsnd", CALL_ON_MSGQ, 0, S | W, .flow = CALL_PUTS},
    {SYS_msgrcv, "msgrcv", CALL_ON_MSGQ, 0, S | W, .flow = CALL_TAKES},
    {SYS_msgctl, "msgctl", CALL_ON_MSGQ, 0, W, .flow = CALL_EITHER},
    {SYS_mq_timedsend, "mq_timedsend", CALL_ON_MQUEUE, 0, S | W, .flow = CALL_PUTS,
     .shown = "mq_send"},
    {SYS_mq_timedreceive, "mq_timedreceive", CALL_ON_MQUEUE, 0, S | W, .flow = CALL_TAKES,
     .shown = "mq_receive"},

    {SYS_io_getevents, "io_getevents", CALL_ON_AIO, 0, S | EINTR_TOO, .zero = CALL_ZERO_TIMEOUT,
     .timeout = CALL_TIMEOUT_AT, .timeout_arg = 4},
    /* The kernel restarts this one by itself, unlike io_getevents. */
    {SYS_io_pgetevents, "io_pgetevents", CALL_ON_AIO, 0, S, .zero = CALL_ZERO_TIMEOUT,
     .timeout = CALL_TIMEOUT_AT, .timeout_arg = 4},
    {SYS_io_submit, "io_submit", CALL_ON_AIO, 0, S | W, .flow = CALL_EITHER},
    {SYS_io_uring_setup, "io_uring_setup", CALL_ON_NOTHING, 0, W | CALL_IN_RING,
     .flow = CALL_EITHER},
    {SYS_io_uring_enter, "io_uring_enter", CALL_ON_AIO, 0, S | W | EINTR_TOO | SHORT | CALL_IN_RING,
     .decide = ring_flags},

    {SYS_mmap, "mmap", CALL_ON_NOTHING, 0, CALL_MAPS,
     .when = {.is = CALL_IF_BITS, .arg = 2, .bits = PROT_EXEC}},
    {SYS_userfaultfd, "userfaultfd", CALL_ON_NOTHING, 0, CALL_MAPS, .flow = CALL_EITHER},
    {SYS_mprotect, "mprotect", CALL_ON_NOTHING, 0, CALL_MAPS,
     .when = {.is = CALL_IF_BITS, .arg = 2, .bits = PROT_EXEC}},
    {SYS_pkey_mprotect, "pkey_mprotect", CALL_ON_NOTHING, 0, CALL_MAPS,
     .when = {.is = CALL_IF_BITS, .arg = 2, .bits = PROT_EXEC}},

    /* The kernel's own: resumes an interrupted poll, sleep or futex. */
    {SYS_restart_syscall, "restart_syscall", CALL_ON_NOTHING, 0, S, .flow = CALL_EITHER},

    CALLS_OF_PROCESSOR};

const struct call *calls_by_nr[CALLS_MAX];

void calls_index(void)
{
    for (size_t i = 0; i < ARRAY_LEN(calls); i++)
        calls_by_nr[calls[i].nr] = &calls[i];
}

const struct call *call_table(size_t *n)
{
    *n = ARRAY_LEN(calls);
    return calls;
}

const char *call_name(int nr)
{
    static char other[32];
    const struct call *c = call_find(nr);

    if (c)
        return c->name;
    snprintf(other, sizeof other, "syscall_%d", nr);
    return other;
}

const char *call_shown(int nr)
{
    const struct call *c = call_find(nr);

    return c && c->shown ? c->shown : call_name(nr);
}

static bool matters(const struct call *c, const uint64_t args[6])
{
    uint64_t arg = args[c->when.arg];
    const uint32_t *v = c->when.values;

    switch ((enum call_when)c->when.is) {
    case CALL_ALWAYS:
        return true;
    case CALL_IF_BITS:
        return (arg & c->when.bits) == c->when.bits;
    case CALL_UNLESS_BITS:
        return !(arg & c->when.bits);
    case CALL_IF_NOT_ZERO:
        return (int)arg != 0;
    case CALL_IF_ONE_OF:
        while (*v && *v != arg)
            v++;
        return *v;
    }
    return true;
}

bool call_makes_child(const struct call *c)
{
    return c && c->child >= CALL_CHILD_VFORKED;
}

unsigned call_flags(int nr, const uint64_t args[6])
{
    const struct call *c = call_find(nr);

    if (!c || !matters(c, args))
        return 0;
    return c->decide ? c->decide(c, args) : c->flags;
}
