#define _GNU_SOURCE
#include "common/signals/signal_forward.h"

#include <errno.h>

#include "common/signals/signal_outlive.h"

static const int passed_on[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
static const int left_to_command[] = {SIGINT, SIGQUIT};

_Static_assert(ARRAY_LEN(passed_on) + ARRAY_LEN(left_to_command) == SIGNAL_FORWARD_SIGNALS,
               "saved");

static volatile sig_atomic_t target;
static volatile sig_atomic_t kept;
static sem_t *kept_sent;

static void pass_on(int sig, siginfo_t *info, void *context)
{
    int err = errno;
    pid_t pid = target;

    (void)context;
    if (sig == kept && info->si_code <= 0)
        sem_post(kept_sent);
    else if (pid > 0 && info->si_code <= 0)
        kill(pid, sig);
    errno = err;
}

void signal_forward_keep(int sig, sem_t *sent)
{
    kept = 0;
    kept_sent = sent;
    kept = sig;
}

void signal_forward_take(struct signal_forward_saved *saved)
{
    struct sigaction ours = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    size_t at = 0;
    sigset_t set;

    target = 0;
    sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++)
        sigaddset(&set, passed_on[i]);
    sigprocmask(SIG_BLOCK, &set, &saved->mask);
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++, at++) {
        sigaction(passed_on[i], NULL, &saved->action[at]);
        if (saved->action[at].sa_handler != SIG_IGN || passed_on[i] == kept)
            sigaction(passed_on[i], &ours, NULL);
    }
    for (size_t i = 0; i < ARRAY_LEN(left_to_command); i++, at++)
        sigaction(left_to_command[i], &ignore, &saved->action[at]);
    signal_outlive_begin();
}

void signal_forward_to(pid_t pid, const struct signal_forward_saved *saved)
{
    target = pid;
    signal_outlive_to(pid);
    if (pid)
        sigprocmask(SIG_SETMASK, &saved->mask, NULL);
}

static void put_back(const struct signal_forward_saved *saved, int but)
{
    size_t at = 0;

    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++, at++)
        if (passed_on[i] != but)
            sigaction(passed_on[i], &saved->action[at], NULL);
    for (size_t i = 0; i < ARRAY_LEN(left_to_command); i++, at++)
        sigaction(left_to_command[i], &saved->action[at], NULL);
    sigprocmask(SIG_SETMASK, &saved->mask, NULL);
}

void signal_forward_put_back(const struct signal_forward_saved *saved)
{
    signal_outlive_end();
    put_back(saved, kept);
}

void signal_forward_put_back_all(const struct signal_forward_saved *saved)
{
    put_back(saved, 0);
}
