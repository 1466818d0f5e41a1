/*
 * spawn.c: a command that is traced from its first instruction on.
 *
 * The child waits on a pipe until it is seized, then loads the filter and executes the command. The
 * stop at that exec is the first that counts. No instruction of the program has run yet there, but
 * the kernel has resolved PATH and #! lines, and /proc/PID/exe names the file that will run. So
 * programs that would not get the privileges their file gives are refused at that stop.
 *
 * Rejected: PTRACE_TRACEME in the child. It makes stops before the filter is loaded and a SIGTRAP
 * at exec, and both would have to be distinguished from the command's own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "common/procpath.h"
#include "common/error.h"
#include "common/signals/sigxfsz.h"
#include "tracer/ptrace/callfilter.h"
#include "tracer/ptrace/attach_error.h"
#include "tracer/objects/proctask.h"
#include "tracer/ptrace/source_state.h"

struct exec_error {
    bool of_filter;
    int err;
};

static void put_environment(const struct source *s)
{
    for (const char *const *e = s->opt.environment; e && *e; e++)
        putenv((char *)(uintptr_t)*e);
}

static FLAME_NORETURN void become(const struct source *s, struct callfilter *f, int go, int say)
{
    struct exec_error why = {0};
    char c;

    if (read(go, &c, 1) != 1)
        _exit(126);
    signal_forward_put_back(s->opt.signals);
    sigxfsz_restore();
    if (f && (why.err = callfilter_load(f)) < 0) {
        why.of_filter = true;
        why.err = -why.err;
    } else {
        put_environment(s);
        execvp(s->opt.argv[0], s->opt.argv);
        why.err = errno;
    }
    if (write(say, &why, sizeof why) != sizeof why)
        _exit(126);
    _exit(127);
}

static int refuse_filter(int err)
{
    if (err == -ENOSYS)
        return flame_error(FLAME_USAGE, "this kernel has no seccomp filters; use --no-filter, "
                                        "which is slower");
    return flame_error(FLAME_FAILED,
                       "the seccomp filter cannot be made: %s; use --no-filter, "
                       "which is slower",
                       strerror(-err));
}

static void set_options(struct source *s)
{
    s->ptrace_options =
        PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT;
    if (s->filtered)
        s->ptrace_options |= PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL;
    if (s->filtered && s->opt.lets_by)
        s->ptrace_options |= PTRACE_O_TRACEVFORKDONE;
    if (s->filtered || !s->opt.no_follow)
        s->ptrace_options |= PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
}

int spawn_command(struct source *s)
{
    struct callfilter *f = NULL;
    const char *all;
    int go[2], say[2], err;
    long tracer;
    pid_t pid;

    s->filtered = !s->opt.no_filter && !s->opt.duration_ns;
    set_options(s);
    if (s->filtered && (err = callfilter_new(&f, s->opt.lets_by, s->opt.lets_marked)) < 0)
        return refuse_filter(err);
    if (pipe2(go, O_CLOEXEC) < 0 || pipe2(say, O_CLOEXEC) < 0)
        return flame_error(FLAME_FAILED, "cannot start %s: pipe: %s", s->opt.argv[0],
                           strerror(errno));
    pid = fork();
    if (pid == 0) {
        close(go[1]);
        become(s, f, go[0], say[1]);
    }
    err = errno;
    callfilter_free(f);
    close(go[0]);
    close(say[1]);
    s->exec_error = say[0];
    if (pid < 0) {
        close(go[1]);
        return flame_error(FLAME_FAILED, "cannot start %s: %s", s->opt.argv[0], strerror(err));
    }
    if (ptrace(PTRACE_SEIZE, pid, 0, s->ptrace_options) < 0) {
        err = errno;
        tracer = task_status(pid, "TracerPid");
        close(go[1]);
        waitpid(pid, NULL, 0);
        if (tracer > 0)
            return flame_error(FLAME_USAGE,
                               "%s cannot be traced: process %ld traces what runs here already",
                               s->opt.argv[0], tracer);
        all = attach_error_of_all();
        return flame_error(FLAME_USAGE, "%s cannot be traced: %s", s->opt.argv[0],
                           all ? all : strerror(err));
    }
    s->command = pid;
    ptraced_add(s->threads, pid, pid);
    if (write(go[1], "", 1) != 1)
        s->failed =
            flame_error(FLAME_FAILED, "cannot start %s: %s", s->opt.argv[0], strerror(errno));
    close(go[1]);
    return s->failed;
}

void spawn_failed(struct source *s)
{
    struct exec_error why;

    if (s->failed)
        return;
    if (read(s->exec_error, &why, sizeof why) != sizeof why)
        return; /* a signal ended it before its exec, which is reported as its end */
    if (why.of_filter)
        s->failed = refuse_filter(-why.err);
    else
        s->failed =
            flame_error(FLAME_USAGE, "%s: cannot be run: %s", s->opt.argv[0], strerror(why.err));
}

/* ---- programs that gain privileges ---- */

static bool may_trace_privileged(void)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {{0, 0, 0}, {0, 0, 0}};

    return syscall(SYS_capget, &head, data) == 0 && data[0].effective & (1u << CAP_SYS_PTRACE);
}

/* Whether the program's file would have given it privileges it does not have now. */
static bool lost_privileges(pid_t pid)
{
    struct proc_path exe = proc_path(pid, "exe");
    char caps[64];
    struct statvfs fs;
    struct stat st;

    if (stat(exe.s, &st) < 0 || (statvfs(exe.s, &fs) == 0 && fs.f_flag & ST_NOSUID))
        return false;
    if (st.st_mode & S_ISUID && st.st_uid != geteuid())
        return true;
    if ((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st.st_gid != getegid())
        return true;
    return geteuid() != 0 && getxattr(exe.s, "security.capability", caps, sizeof caps) > 0;
}

int spawn_check_exec(struct source *s)
{
    if (task_is_32bit(s->command))
        return flame_error(FLAME_USAGE,
                           "%s: is a 32-bit program, whose system calls cannot be traced",
                           s->opt.argv[0]);
    if (!s->filtered && may_trace_privileged())
        return 0;
    if (!lost_privileges(s->command))
        return 0;
    if (may_trace_privileged())
        return flame_error(FLAME_USAGE,
                           "%s: is set-user-id or has file capabilities, which a program under the "
                           "seccomp filter does not get; use --no-filter",
                           s->opt.argv[0]);
    return flame_error(FLAME_USAGE,
                       "%s: is set-user-id or has file capabilities, which a traced program does "
                       "not get; trace it as root with --no-filter",
                       s->opt.argv[0]);
}

static const char *program_of(pid_t pid, char *name, size_t size)
{
    ssize_t n = readlink(proc_path(pid, "exe").s, name, size - 1);

    name[n > 0 ? n : 0] = '\0';
    return name;
}

void spawn_warn_32bit(struct source *s, pid_t pid)
{
    static bool warned;
    char name[256];

    if (warned || s->silent)
        return;
    warned = true;
    flame_warn("%s (process %d) is a 32-bit program: what it waits for is not seen",
               program_of(pid, name, sizeof name), (int)pid);
}

void spawn_warn_setid(struct source *s, pid_t pid)
{
    static bool warned;
    char name[256];

    if (warned || s->silent || !s->command || (!s->filtered && may_trace_privileged()) ||
        !lost_privileges(pid))
        return;
    warned = true;
    flame_warn("%s (process %d) runs without the privileges its file gives; %s",
               program_of(pid, name, sizeof name), (int)pid,
               may_trace_privileged() ? "use --no-filter" : "trace it as root with --no-filter");
}
