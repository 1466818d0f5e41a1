#define _GNU_SOURCE
#include "tracer/ptrace/restart.h"

#include <errno.h>
#include <linux/limits.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/procpath.h"
#include "common/sysnr.h"
#include "tracer/offcpu/calls.h"
#include "tracer/objects/proctask.h"

#define RING_EXT_ARG 8 /* IORING_ENTER_EXT_ARG: args[4] leads to a timeout */

bool restart_pending(int64_t result)
{
    return result == -ERESTARTSYS || result == -ERESTARTNOINTR || result == -ERESTARTNOHAND ||
           result == -ERESTART_RESTARTBLOCK;
}

bool restart_has_eintr(const struct callregs *regs)
{
    const struct call *c = call_find(callregs_nr(regs));

    return callregs_nr(regs) >= 0 && callregs_result(regs) == -EINTR && c && c->flags & CALL_EINTR;
}

void restart_undo_eintr(pid_t tid, struct callregs *regs)
{
    if (restart_has_eintr(regs))
        callregs_set_result(tid, regs, -ERESTARTNOHAND);
}

bool restart_fd_is(pid_t tid, int fd, const char *prefix)
{
    char target[64];
    ssize_t n = readlink(proc_path_of(tid, "fd", fd).s, target, sizeof target - 1);

    if (n < 0)
        return false;
    target[n] = '\0';
    return strncmp(target, prefix, strlen(prefix)) == 0;
}

void restart_remember(struct cut_call *cut, int nr, const uint64_t args[6], uintptr_t pc,
                      uintptr_t sp)
{
    *cut = (struct cut_call){.is = true, .nr = nr, .pc = pc, .sp = sp};
    memcpy(cut->args, args, sizeof cut->args);
}

bool restart_matches(const struct cut_call *cut, const struct callregs *regs, int *nr,
                     uint64_t args[6])
{
    if (!cut->is || callregs_pc(regs) != cut->pc || callregs_sp(regs) != cut->sp)
        return false;
    if (*nr != SYS_restart_syscall && *nr != cut->nr)
        return false;
    *nr = cut->nr;
    memcpy(args, cut->args, sizeof cut->args);
    return true;
}

/* Number that the code before `pc` loads, if it is a call that the kernel can restart; -1: none is
 * found. */
static int number_loaded(pid_t tid, uintptr_t pc)
{
    uint8_t code[48];
    struct iovec here = {code, sizeof code}, there = {(void *)(pc - sizeof code), sizeof code};
    size_t at = sizeof code;
    int nr;

    if (pc < sizeof code || process_vm_readv(tid, &here, 1, &there, 1, 0) != sizeof code)
        return -1;
    while ((nr = callregs_number(code, sizeof code, &at)) >= 0) {
        const struct call *c = call_find(nr);

        if (c && c->flags & CALL_RESTARTS)
            return nr;
    }
    return -1;
}

int restart_identity(pid_t tid, const struct task_call *c)
{
    char wchan[64] = "";
    int nr;

    if (task_read(tid, "wchan", wchan, sizeof wchan) > 0) {
        if (strstr(wchan, "futex"))
            return SYS_futex;
        if (strstr(wchan, "poll"))
            return CALLREGS_POLL;
    }
    nr = number_loaded(tid, c->pc);
    if (nr >= 0)
        return nr;
    /* A clock id, where the other three calls have an address. */
    if ((int64_t)c->args[0] >= -4096 && (int64_t)c->args[0] < 4096)
        return SYS_clock_nanosleep;
    return strstr(wchan, "nanosleep") ? SYS_nanosleep : SYS_restart_syscall;
}

/* ---- which calls can be interrupted unnoticed ---- */

/* Our own descriptor of the same file, or -1. */
static int copy_of(pid_t pid, int fd)
{
    int process = (int)syscall(SYS_pidfd_open, pid, 0), copy = -1;

    if (process >= 0) {
        copy = (int)syscall(SYS_pidfd_getfd, process, fd, 0);
        close(process);
    }
    return copy;
}

bool restart_socket_timeout(pid_t pid, int fd, bool sends, uint64_t *ns)
{
    int option = sends ? SO_SNDTIMEO : SO_RCVTIMEO, copy = copy_of(pid, fd);
    struct timeval tv = {0};
    socklen_t len = sizeof tv;
    bool known = false;

    *ns = 0;
    if (copy < 0)
        return false;
    if (getsockopt(copy, SOL_SOCKET, option, &tv, &len) == 0) {
        known = true;
        *ns = (uint64_t)tv.tv_sec * 1000000000u + (uint64_t)tv.tv_usec * 1000u;
    }
    close(copy);
    return known;
}

enum cutwrite restart_write_reason(pid_t pid, int fd, uint64_t spent_ns)
{
    int copy = copy_of(pid, fd);
    enum cutwrite reason;

    if (copy < 0)
        return CUTWRITE_NOT;
    reason = cutwrite_reason(copy, spent_ns);
    close(copy);
    return reason;
}

bool restart_sends(int nr)
{
    const struct call *c = call_find(nr);

    return c && c->flow == CALL_PUTS;
}

bool restart_exact(pid_t pid, pid_t tid, int nr, const uint64_t args[6])
{
    const struct call *c = call_find(nr);
    unsigned flags = call_flags(nr, args);
    uint64_t timeout;

    if (!c)
        return false;
    if (c->timeout == CALL_TIMEOUT_MS)
        return (int)args[c->timeout_arg] < 0;
    if (c->timeout == CALL_TIMEOUT_AT)
        return !args[c->timeout_arg];
    /* No other call has a flag that says whether it has a timeout. */
    if (nr == SYS_io_uring_enter)
        return !args[1] && !(args[3] & RING_EXT_ARG);
    /* A write of at most PIPE_BUF bytes to a pipe is done at once or not at all. */
    if (flags & CALL_RESUMES && args[2] <= PIPE_BUF && restart_fd_is(tid, (int)args[0], "pipe:"))
        return true;
    if (flags & CALL_SHORT)
        return false;
    if (flags & CALL_EINTR && c->object == CALL_ON_FD &&
        restart_fd_is(tid, (int)args[c->fd_arg], "socket:"))
        return restart_socket_timeout(pid, (int)args[c->fd_arg], restart_sends(nr), &timeout) &&
               !timeout;
    return true;
}
