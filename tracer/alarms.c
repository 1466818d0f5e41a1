#define _GNU_SOURCE
#include "tracer/alarms.h"

#include <signal.h>
#include <sys/time.h>

static const int passed_on[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
static const int terminal[] = {SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU};

static volatile sig_atomic_t any, ticked, ended, pending[ARRAY_LEN(passed_on)];
static pid_t sender;

static void tick(int sig)
{
    (void)sig;
    any = ticked = 1;
}

static void end(int sig)
{
    (void)sig;
    any = ended = 1;
}

static void for_command(int sig, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code > 0 || info->si_pid != sender)
        return;
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++)
        if (passed_on[i] == sig)
            any = pending[i] = 1;
}

/* No SA_RESTART: the wait is to end. */
void alarms_set(pid_t caller)
{
    struct sigaction sa = {.sa_handler = tick};
    sigset_t none;

    sender = caller;
    sigaction(SIGALRM, &sa, NULL);
    sa.sa_handler = SIG_IGN;
    for (size_t i = 0; i < ARRAY_LEN(terminal); i++)
        sigaction(terminal[i], &sa, NULL);
    if (caller) {
        sa = (struct sigaction){.sa_sigaction = for_command, .sa_flags = SA_SIGINFO};
        for (size_t i = 0; i < ARRAY_LEN(passed_on); i++)
            sigaction(passed_on[i], &sa, NULL);
    } else {
        sa.sa_handler = end;
        for (size_t i = 0; i < ARRAY_LEN(ending); i++)
            sigaction(ending[i], &sa, NULL);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

void alarms_tick_every(uint64_t ns)
{
    struct timeval tv = {(time_t)(ns / 1000000000u), (suseconds_t)(ns % 1000000000u / 1000u)};
    struct itimerval it = {tv, tv};

    setitimer(ITIMER_REAL, &it, NULL);
}

bool alarms_any(void)
{
    if (likely(!any))
        return false;
    any = 0;
    return true;
}

bool alarms_ticked(void)
{
    bool was = ticked;

    ticked = 0;
    return was;
}

bool alarms_end(void)
{
    return ended;
}

int alarms_signal(void)
{
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++) {
        if (!pending[i])
            continue;
        pending[i] = 0;
        return passed_on[i];
    }
    return 0;
}
