#define _GNU_SOURCE
#include "tracer/ptrace/attach_error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "common/error.h"
#include "tracer/objects/proctask.h"

#define PF_KTHREAD 0x00200000ul /* include/linux/sched.h of the kernel */
#define YAMA "/proc/sys/kernel/yama/ptrace_scope"

static int no_such(pid_t pid)
{
    return flame_error(FLAME_USAGE, "process %d: there is no such process", (int)pid);
}

static int has_ended(pid_t pid)
{
    return flame_error(FLAME_USAGE, "process %d has ended and waits for its parent to notice",
                       (int)pid);
}

int attach_error_foreseen(pid_t pid, pid_t ours)
{
    unsigned long flags;
    long leader;
    char state;

    if (pid <= 0 || !task_state(pid, &state, &flags))
        return no_such(pid);
    if (pid == ours || pid == getpid())
        return flame_error(FLAME_USAGE, "process %d is this flame itself", (int)pid);
    if (flags & PF_KTHREAD)
        return flame_error(FLAME_USAGE,
                           "process %d is a thread of the kernel: it has no stack "
                           "that could be read",
                           (int)pid);
    if (task_is_32bit(pid))
        return flame_error(FLAME_USAGE,
                           "process %d is a 32-bit program, whose system calls cannot be traced",
                           (int)pid);
    leader = task_status(pid, "Tgid");
    if (leader > 0 && leader != pid)
        return flame_error(FLAME_USAGE, "%d is a thread of process %ld; use -p %ld", (int)pid,
                           leader, leader);
    return 0;
}

/* Value of Yama's ptrace_scope; 0 where there is no Yama. */
static int ptrace_scope(void)
{
    char c = '0';
    int fd = open(YAMA, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return 0;
    if (read(fd, &c, 1) != 1)
        c = '0';
    close(fd);
    return c - '0';
}

/* For pid 0, which never exists, the kernel returns ESRCH. A seccomp filter checks the number of
 * the call only, so it returns its error for any pid. */
const char *attach_error_of_all(void)
{
    if (ptrace(PTRACE_SEIZE, 0, 0, 0) == 0 || errno == ESRCH)
        return NULL;
    return "a seccomp filter over this flame forbids ptrace (a container's, or a service's); "
           "run flame outside of it, or allow it there (docker: --cap-add SYS_PTRACE)";
}

/* Explains why an existing process may not be read: its owner, or the setting that forbids it. */
static int not_permitted(pid_t pid)
{
    long uid = task_status(pid, "Uid");

    if (geteuid() != 0 && uid >= 0 && uid != (long)geteuid())
        return flame_error(
            FLAME_USAGE,
            "process %d belongs to user %ld: trace it as that user, as root, or with "
            "CAP_SYS_PTRACE",
            (int)pid, uid);
    switch (ptrace_scope()) {
    case 1:
        return flame_error(FLAME_USAGE,
                           "process %d may not be traced: " YAMA " is 1, which allows "
                           "descendants only; set it to 0, use CAP_SYS_PTRACE, or launch "
                           "the program with flame",
                           (int)pid);
    case 2:
        return flame_error(FLAME_USAGE,
                           "process %d may not be traced: " YAMA " is 2, which asks for "
                           "CAP_SYS_PTRACE; run as root",
                           (int)pid);
    case 3:
        return flame_error(FLAME_USAGE,
                           "process %d may not be traced: " YAMA " is 3, which "
                           "forbids it to everybody until the next boot",
                           (int)pid);
    }
    return flame_error(FLAME_USAGE,
                       "process %d may not be traced: CAP_SYS_PTRACE is needed (it has privileges "
                       "of its own, is not dumpable, or this is a container without it)",
                       (int)pid);
}

int attach_error_explain(pid_t pid, int err)
{
    const char *all;
    long tracer;
    unsigned long flags;
    char state, comm[16] = "?";

    if (err == ESRCH || !task_state(pid, &state, &flags))
        return no_such(pid);
    if (state == 'Z' || state == 'X')
        return has_ended(pid);
    if (err != EPERM)
        return flame_error(FLAME_USAGE, "process %d cannot be traced: %s", (int)pid, strerror(err));
    tracer = task_status(pid, "TracerPid");
    if (tracer > 0) {
        task_comm((pid_t)tracer, comm);
        return flame_error(FLAME_USAGE, "process %d is already traced by %s (process %ld)",
                           (int)pid, comm, tracer);
    }
    all = attach_error_of_all();
    if (all)
        return flame_error(FLAME_USAGE, "process %d may not be traced: %s", (int)pid, all);
    return not_permitted(pid);
}

int attach_error_of_looking(pid_t pid, int err)
{
    unsigned long flags;
    char state;

    if (err == ESRCH || !task_state(pid, &state, &flags))
        return no_such(pid);
    if (state == 'Z' || state == 'X')
        return has_ended(pid);
    if (err == ENOSYS)
        return flame_error(FLAME_USAGE,
                           "process %d cannot be inspected: this kernel has no "
                           "process_vm_readv (CONFIG_CROSS_MEMORY_ATTACH)",
                           (int)pid);
    return not_permitted(pid);
}
