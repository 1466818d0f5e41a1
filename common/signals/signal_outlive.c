#define _GNU_SOURCE
#include "common/signals/signal_outlive.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

static volatile sig_atomic_t target;
static struct sigaction of_pipe; /* the handler of SIGPIPE before */

/* A fault is raised again when the instruction is retried. */
static bool is_fault(int sig)
{
    return sig == SIGSEGV || sig == SIGBUS || sig == SIGILL || sig == SIGFPE;
}

static void put_back(int sig)
{
    if (sig == SIGPIPE)
        sigaction(sig, &of_pipe, NULL);
    else
        signal(sig, SIG_DFL);
}

static void obey(int sig, const siginfo_t *info)
{
    put_back(sig);
    if (!is_fault(sig) || info->si_code <= 0)
        raise(sig);
}

/* The kernel names the writer as the sender of a SIGPIPE of a pipe without readers. */
static bool has_sender(const siginfo_t *info)
{
    return info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL;
}

/* The sender may have ended by its own signal. */
static bool is_of_the_group(pid_t sender)
{
    pid_t group = sender > 0 ? getpgid(sender) : 0;

    return sender > 0 && sender != getppid() &&
           (group == getpgrp() || (group < 0 && errno == ESRCH));
}

static void hear(int sig, siginfo_t *info, void *context)
{
    int err = errno;

    (void)context;
    if (!has_sender(info) || info->si_pid == getpid())
        obey(sig, info);
    else if (is_of_the_group(info->si_pid))
        ;
    else if (target > 0)
        kill((pid_t)target, sig);
    else
        obey(sig, info);
    errno = err;
}

/* Whether the default action does not end the process, or the signal cannot be caught. */
static bool is_harmless(int sig)
{
    switch (sig) {
    case SIGCHLD:
    case SIGCONT:
    case SIGURG:
    case SIGWINCH:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
    case SIGSTOP:
    case SIGKILL:
        return true;
    default:
        return false;
    }
}

static bool has_use(int sig)
{
    static const int used[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

    for (size_t i = 0; i < ARRAY_LEN(used); i++)
        if (used[i] == sig)
            return true;
    return false;
}

static bool is_to_be_heard(int sig, const struct sigaction *was)
{
    if (is_harmless(sig) || has_use(sig) || was->sa_flags & SA_SIGINFO)
        return false;
    return was->sa_handler == SIG_DFL || (sig == SIGPIPE && was->sa_handler != SIG_IGN);
}

void signal_outlive_begin(void)
{
    struct sigaction ours = {.sa_sigaction = hear, .sa_flags = SA_SIGINFO | SA_RESTART}, was;

    target = 0;
    for (int sig = 1; sig <= SIGRTMAX; sig++) {
        if (sigaction(sig, NULL, &was) != 0 || !is_to_be_heard(sig, &was))
            continue;
        if (sig == SIGPIPE)
            of_pipe = was;
        sigaction(sig, &ours, NULL);
    }
}

void signal_outlive_to(pid_t pid)
{
    target = pid;
}

void signal_outlive_end(void)
{
    struct sigaction was;

    for (int sig = 1; sig <= SIGRTMAX; sig++)
        if (sigaction(sig, NULL, &was) == 0 && was.sa_flags & SA_SIGINFO &&
            was.sa_sigaction == hear)
            put_back(sig);
}
