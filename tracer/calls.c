/*
 * calls.c: the table, and what arguments make of a call.
 *
 * What can block for no longer than the kernel needs to look something up (stat, a
 * name in a directory) is not in it: tracing costs more than such a call. Numbers
 * that the C library's headers may be too old to know are given in figures.
 */
#define _GNU_SOURCE
#include "tracer/calls.h"

#include <asm/ioctls.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define NR_futex_waitv 449
#define NR_futex_wake 454
#define NR_futex_wait 455
#define NR_futex_requeue 456

#define S CALL_SLEEPS
#define W CALL_WAKES
#define EINTR_TOO CALL_EINTR
#define SHORT CALL_SHORT

static const struct call calls[] = {
    {SYS_read, "read", CALL_ON_FD, 0, S | W | EINTR_TOO},
    {SYS_readv, "readv", CALL_ON_FD, 0, S | W | EINTR_TOO},
    {SYS_pread64, "pread64", CALL_ON_FD, 0, S},
    {SYS_preadv, "preadv", CALL_ON_FD, 0, S},
    {SYS_preadv2, "preadv2", CALL_ON_FD, 0, S | W | EINTR_TOO},
    {SYS_write, "write", CALL_ON_FD, 0, S | W | EINTR_TOO | SHORT},
    {SYS_writev, "writev", CALL_ON_FD, 0, S | W | EINTR_TOO | SHORT},
    {SYS_pwrite64, "pwrite64", CALL_ON_FD, 0, S | W},
    {SYS_pwritev, "pwritev", CALL_ON_FD, 0, S | W},
    {SYS_pwritev2, "pwritev2", CALL_ON_FD, 0, S | W | EINTR_TOO | SHORT},
    {SYS_getdents, "getdents", CALL_ON_FD, 0, S},
    {SYS_getdents64, "getdents64", CALL_ON_FD, 0, S},
    {SYS_readahead, "readahead", CALL_ON_FD, 0, S},
    {SYS_sendfile, "sendfile", CALL_ON_FD, 0, S | W | EINTR_TOO | SHORT},
    {SYS_splice, "splice", CALL_ON_FD, 0, S | W | EINTR_TOO | SHORT},
    {SYS_tee, "tee", CALL_ON_FD, 0, S | W | EINTR_TOO | SHORT},
    {SYS_vmsplice, "vmsplice", CALL_ON_FD, 0, S | W | EINTR_TOO | SHORT},
    {SYS_copy_file_range, "copy_file_range", CALL_ON_FD, 0, S | W | SHORT},
    {SYS_close, "close", CALL_ON_FD, 0, W},
    {SYS_dup2, "dup2", CALL_ON_FD, 1, W},
    {SYS_dup3, "dup3", CALL_ON_FD, 1, W},
    {SYS_close_range, "close_range", CALL_ON_NOTHING, 0, W},
    {SYS_ioctl, "ioctl", CALL_ON_FD, 0, S},

    {SYS_open, "open", CALL_ON_PATH, 0, S | W},
    {SYS_openat, "openat", CALL_ON_PATH, 1, S | W},
    {SYS_openat2, "openat2", CALL_ON_PATH, 1, S | W},
    {SYS_creat, "creat", CALL_ON_PATH, 0, S | W},
    {SYS_unlink, "unlink", CALL_ON_PATH, 0, S | W},
    {SYS_unlinkat, "unlinkat", CALL_ON_PATH, 1, S | W},
    {SYS_rename, "rename", CALL_ON_PATH, 1, S | W},
    {SYS_renameat, "renameat", CALL_ON_PATH, 3, S | W},
    {SYS_renameat2, "renameat2", CALL_ON_PATH, 3, S | W},
    {SYS_mkdir, "mkdir", CALL_ON_PATH, 0, S | W},
    {SYS_mkdirat, "mkdirat", CALL_ON_PATH, 1, S | W},
    {SYS_rmdir, "rmdir", CALL_ON_PATH, 0, S | W},
    {SYS_truncate, "truncate", CALL_ON_PATH, 0, S | W},
    {SYS_ftruncate, "ftruncate", CALL_ON_FD, 0, S | W},
    {SYS_fallocate, "fallocate", CALL_ON_FD, 0, S | W},
    {SYS_fsync, "fsync", CALL_ON_FD, 0, S},
    {SYS_fdatasync, "fdatasync", CALL_ON_FD, 0, S},
    {SYS_sync_file_range, "sync_file_range", CALL_ON_FD, 0, S},
    {SYS_syncfs, "syncfs", CALL_ON_FD, 0, S},
    {SYS_sync, "sync", CALL_ON_NOTHING, 0, S},
    {SYS_msync, "msync", CALL_ON_NOTHING, 0, S},
    {SYS_fcntl, "fcntl", CALL_ON_FD, 0, S | W},
    {SYS_flock, "flock", CALL_ON_FD, 0, S | W},

    {SYS_poll, "poll", CALL_ON_FDS, 0, S},
    {SYS_ppoll, "ppoll", CALL_ON_FDS, 0, S},
    {SYS_select, "select", CALL_ON_FDS, 0, S},
    {SYS_pselect6, "pselect6", CALL_ON_FDS, 0, S},
    {SYS_epoll_wait, "epoll_wait", CALL_ON_EPOLL, 0, S | EINTR_TOO},
    {SYS_epoll_pwait, "epoll_pwait", CALL_ON_EPOLL, 0, S | EINTR_TOO},
    {SYS_epoll_pwait2, "epoll_pwait2", CALL_ON_EPOLL, 0, S | EINTR_TOO},
    {SYS_epoll_ctl, "epoll_ctl", CALL_ON_FD, 0, W | CALL_EPOLL},

    {SYS_connect, "connect", CALL_ON_FD, 0, S | W | EINTR_TOO},
    {SYS_accept, "accept", CALL_ON_FD, 0, S | W | EINTR_TOO},
    {SYS_accept4, "accept4", CALL_ON_FD, 0, S | W | EINTR_TOO},
    {SYS_recvfrom, "recvfrom", CALL_ON_FD, 0, S | W | EINTR_TOO | SHORT},
    {SYS_recvmsg, "recvmsg", CALL_ON_FD, 0, S | W | EINTR_TOO | SHORT},
    {SYS_recvmmsg, "recvmmsg", CALL_ON_FD, 0, S | W | EINTR_TOO | SHORT},
    {SYS_sendto, "sendto", CALL_ON_FD, 0, S | W | EINTR_TOO | SHORT},
    {SYS_sendmsg, "sendmsg", CALL_ON_FD, 0, S | W | EINTR_TOO | SHORT},
    {SYS_sendmmsg, "sendmmsg", CALL_ON_FD, 0, S | W | EINTR_TOO | SHORT},
    {SYS_shutdown, "shutdown", CALL_ON_FD, 0, W},

    {SYS_futex, "futex", CALL_ON_FUTEX, 0, S | W},
    {NR_futex_waitv, "futex_waitv", CALL_ON_FUTEX, 0, S},
    {NR_futex_wake, "futex_wake", CALL_ON_FUTEX, 0, W},
    {NR_futex_wait, "futex_wait", CALL_ON_FUTEX, 0, S},
    {NR_futex_requeue, "futex_requeue", CALL_ON_FUTEX, 0, W},

    {SYS_nanosleep, "nanosleep", CALL_ON_TIME, 0, S},
    {SYS_clock_nanosleep, "clock_nanosleep", CALL_ON_TIME, 0, S},

    {SYS_wait4, "wait4", CALL_ON_CHILD, 0, S},
    {SYS_waitid, "waitid", CALL_ON_CHILD, 1, S},
    /* Only with CLONE_VFORK: the parent sleeps until the child runs exec. */
    {SYS_vfork, "vfork", CALL_ON_CHILD, 0, S},
    {SYS_clone, "clone", CALL_ON_CHILD, 0, S},
    {SYS_clone3, "clone3", CALL_ON_CHILD, 0, S},

    /* What such a parent waits for. */
    {SYS_execve, "execve", CALL_ON_PATH, 0, W},
    {SYS_execveat, "execveat", CALL_ON_PATH, 1, W},

    {SYS_pause, "pause", CALL_ON_SIGNAL, 0, S},
    {SYS_rt_sigsuspend, "rt_sigsuspend", CALL_ON_SIGNAL, 0, S},
    {SYS_rt_sigtimedwait, "rt_sigtimedwait", CALL_ON_SIGNAL, 0, S | EINTR_TOO},
    {SYS_kill, "kill", CALL_ON_PROCESS, 0, W},
    {SYS_tkill, "tkill", CALL_ON_PROCESS, 0, W},
    {SYS_tgkill, "tgkill", CALL_ON_PROCESS, 1, W},
    {SYS_rt_sigqueueinfo, "rt_sigqueueinfo", CALL_ON_PROCESS, 0, W},
    {SYS_rt_tgsigqueueinfo, "rt_tgsigqueueinfo", CALL_ON_PROCESS, 1, W},
    {SYS_pidfd_send_signal, "pidfd_send_signal", CALL_ON_PROCESS, 0, W},

    {SYS_semop, "semop", CALL_ON_SEM, 0, S | W | EINTR_TOO},
    {SYS_semtimedop, "semtimedop", CALL_ON_SEM, 0, S | W | EINTR_TOO},
    {SYS_semctl, "semctl", CALL_ON_SEM, 0, W},
    {SYS_msgsnd, "msgsnd", CALL_ON_MSGQ, 0, S | W},
    {SYS_msgrcv, "msgrcv", CALL_ON_MSGQ, 0, S | W},
    {SYS_msgctl, "msgctl", CALL_ON_MSGQ, 0, W},
    {SYS_mq_timedsend, "mq_timedsend", CALL_ON_FD, 0, S | W},
    {SYS_mq_timedreceive, "mq_timedreceive", CALL_ON_FD, 0, S | W},

    {SYS_io_getevents, "io_getevents", CALL_ON_AIO, 0, S | EINTR_TOO},
    {SYS_io_pgetevents, "io_pgetevents", CALL_ON_AIO, 0, S | EINTR_TOO},
    {SYS_io_submit, "io_submit", CALL_ON_AIO, 0, S | W},
    {SYS_io_uring_setup, "io_uring_setup", CALL_ON_NOTHING, 0, W},
    {SYS_io_uring_enter, "io_uring_enter", CALL_ON_AIO, 0, S | W | EINTR_TOO | SHORT},

    {SYS_mmap, "mmap", CALL_ON_NOTHING, 0, CALL_MAPS},
    {SYS_mprotect, "mprotect", CALL_ON_NOTHING, 0, CALL_MAPS},
    {SYS_pkey_mprotect, "pkey_mprotect", CALL_ON_NOTHING, 0, CALL_MAPS},

    /* The kernel's own: goes on with an interrupted poll, sleep or futex. */
    {SYS_restart_syscall, "restart_syscall", CALL_ON_NOTHING, 0, S},
};

#define NR_MAX 512

/* By number; built at the first question. */
static const struct call *by_nr[NR_MAX];

static void index_calls(void)
{
    for (size_t i = 0; i < ARRAY_LEN(calls); i++)
        by_nr[calls[i].nr] = &calls[i];
}

const struct call *call_find(int nr)
{
    if (unlikely(!by_nr[SYS_read]))
        index_calls();
    return nr >= 0 && nr < NR_MAX ? by_nr[nr] : NULL;
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

static unsigned futex_flags(uint64_t op)
{
    switch (op & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI:
    case 13: /* FUTEX_LOCK_PI2 */
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

static unsigned fcntl_flags(uint64_t cmd)
{
    switch (cmd) {
    case F_SETLKW:
    case F_OFD_SETLKW:
        return S | W;
    case F_SETLK:
    case F_OFD_SETLK:
        return W;
    default:
        return 0;
    }
}

/* Draining a terminal's output is what blocks. */
static unsigned ioctl_flags(uint64_t cmd)
{
    return cmd == TCSBRK || cmd == TCSBRKP || cmd == TCSETSW || cmd == TCSETSF ? S : 0;
}

/* A whole count is asked for: it may end half-way. */
static unsigned receive_flags(unsigned flags, int how)
{
    if (how & MSG_DONTWAIT)
        return W;
    return how & MSG_WAITALL ? flags : flags & ~(unsigned)SHORT;
}

unsigned call_flags(int nr, const uint64_t args[6])
{
    const struct call *c = call_find(nr);

    if (!c)
        return 0;
    switch (nr) {
    case SYS_futex:
        return futex_flags(args[1]);
    case SYS_fcntl:
        return fcntl_flags(args[1]);
    case SYS_ioctl:
        return ioctl_flags(args[1]);
    case SYS_flock:
        return args[1] & LOCK_NB || (args[1] & ~LOCK_NB) == LOCK_UN ? W : S | W;
    case SYS_mmap:
    case SYS_mprotect:
    case SYS_pkey_mprotect:
        return args[2] & PROT_EXEC ? CALL_MAPS : 0;
    case SYS_clone:
        return args[0] & CLONE_VFORK ? S : 0;
    case SYS_poll:
        return (int)args[2] ? S : 0;
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
        return (int)args[3] ? c->flags : 0;
    case SYS_wait4:
        return args[2] & WNOHANG ? 0 : S;
    case SYS_waitid:
        return args[3] & WNOHANG ? 0 : S;
    case SYS_recvfrom:
        return receive_flags(c->flags, (int)args[3]);
    case SYS_recvmsg:
        return receive_flags(c->flags, (int)args[2]);
    case SYS_recvmmsg:
        return (int)args[3] & MSG_DONTWAIT ? W : c->flags;
    case SYS_sendto:
    case SYS_sendmmsg:
        return (int)args[3] & MSG_DONTWAIT ? W : c->flags;
    case SYS_sendmsg:
        return (int)args[2] & MSG_DONTWAIT ? W : c->flags;
    case SYS_io_uring_enter:
        /* Having submitted something it returns that count, whatever it waited for. */
        if (!(args[3] & 1)) /* IORING_ENTER_GETEVENTS */
            return S | W;
        return args[1] ? c->flags : c->flags & ~(unsigned)SHORT;
    case SYS_kill:
    case SYS_tkill:
        return args[1] ? W : 0;
    case SYS_tgkill:
        return args[2] ? W : 0;
    default:
        return c->flags;
    }
}
