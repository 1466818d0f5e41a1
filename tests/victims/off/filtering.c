/*
 * filtering: installs seccomp filters of its own, blocks signals, is trapped and single-steps
 * itself; prints the result of each, which is the same with a tracer and without.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static volatile sig_atomic_t caught;

static void on_sys(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)info;
    caught++;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = 77;
}

static void on_trap(int sig)
{
    (void)sig;
    caught++;
}

#define RULE(nr, action)                                                                           \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1), BPF_STMT(BPF_RET | BPF_K, (action))

/* Both calls that wait, which `flame off` filters too, and others. */
static int install(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        RULE(SYS_pause, SECCOMP_RET_ERRNO | EACCES),
        RULE(SYS_getpgrp, SECCOMP_RET_ERRNO | EXDEV),
        RULE(SYS_semop, SECCOMP_RET_TRAP),
        RULE(SYS_getppid, SECCOMP_RET_TRAP),
        RULE(SYS_msgget, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0;
}

static void killed(void)
{
    syscall(SYS_msgget, 1, 0);
}

static void trapped(void)
{
    signal(SIGTRAP, on_trap);
    raise(SIGTRAP);
    __asm__ volatile("int3");
    kill(getpid(), SIGTRAP);
    _exit(caught);
}

static void trap_untaken(void)
{
    raise(SIGTRAP);
}

/* By the trap flag, over three instructions. */
static void stepped(void)
{
    signal(SIGTRAP, on_trap);
    __asm__ volatile("sub $128, %%rsp\n pushf\n orl $0x100, (%%rsp)\n popf\n nop\n nop\n nop\n"
                     "pushf\n andl $~0x100, (%%rsp)\n popf\n add $128, %%rsp\n" ::
                         : "memory", "cc");
    _exit(caught);
}

static void blocked(void)
{
    sigset_t set;
    int sig;

    sigfillset(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGTRAP);
    poll(NULL, 0, 30);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigwait(&set, &sig);
    _exit(sig);
}

static void try(const char *name, void (*act)(void))
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        act();
        _exit(100);
    }
    waitpid(child, &status, 0);
    printf("%s: status %x\n", name, (unsigned)status & ~0x80u); /* not whether it dumped core */
}

int main(void)
{
    struct sigaction sa = {.sa_sigaction = on_sys, .sa_flags = SA_SIGINFO};
    long n;

    setvbuf(stdout, NULL, _IONBF, 0);
    sigaction(SIGSYS, &sa, NULL);
    if (install())
        return 9;
    n = syscall(SYS_pause);
    printf("pause %ld %s\n", n, strerror(errno));
    n = syscall(SYS_getpgrp);
    printf("getpgrp %ld %s\n", n, strerror(errno));
    n = syscall(SYS_semop, 0, NULL, 0);
    printf("semop %ld, caught %d\n", n, caught);
    n = syscall(SYS_getppid);
    printf("getppid %ld, caught %d\n", n, caught);
    caught = 0;
    try("killed", killed);
    try("trapped", trapped);
    try("trap not taken", trap_untaken);
    try("stepped", stepped);
    try("blocked", blocked);
    return 0;
}
