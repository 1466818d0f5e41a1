/*
 * tracer.c: the caller's side: starts the tracing process, passes signals on to it and
 * waits for its word.
 */
#define _GNU_SOURCE
#include "tracer/tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"
#include "tracer/ptrace/alarms.h"
#include "tracer/tracing.h"

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};

static volatile sig_atomic_t tracing_pid;

static void end_tracing(int sig)
{
    int err = errno;

    (void)sig;
    if (tracing_pid > 0)
        kill((pid_t)tracing_pid, SIGTERM);
    errno = err;
}

/* ---- signals, of both kinds of run ---- */

struct signals {
    struct signal_forward_saved passed; /* a launch */
    struct sigaction action[ARRAY_LEN(ending)];
    sigset_t mask;
};

static void take_signals(struct signals *s, bool launch)
{
    struct sigaction sa = {.sa_handler = end_tracing, .sa_flags = SA_RESTART};
    sigset_t set;

    tracing_pid = 0;
    if (launch) {
        signal_forward_take(&s->passed);
        return;
    }
    sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_LEN(ending); i++)
        sigaddset(&set, ending[i]);
    sigprocmask(SIG_BLOCK, &set, &s->mask);
    for (size_t i = 0; i < ARRAY_LEN(ending); i++)
        sigaction(ending[i], &sa, &s->action[i]);
}

static void signals_to(struct signals *s, bool launch, pid_t pid)
{
    if (launch) {
        signal_forward_to(pid, &s->passed);
        return;
    }
    tracing_pid = pid;
    if (pid)
        sigprocmask(SIG_SETMASK, &s->mask, NULL);
}

static void put_back_signals(const struct signals *s, bool launch)
{
    if (launch) {
        signal_forward_put_back(&s->passed);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(ending); i++)
        sigaction(ending[i], &s->action[i], NULL);
    sigprocmask(SIG_SETMASK, &s->mask, NULL);
}

/* ---- the run ---- */

/* The tracing process's last word, or 0 when it ended without one. */
static char last_word(int fd)
{
    char word = 0;
    ssize_t n;

    do
        n = read(fd, &word, 1);
    while (n < 0 && errno == EINTR);
    return n == 1 ? word : 0;
}

/* Waits for its end without reaping it, so that its id stays its own until no handler
 * uses it any more; then reaps it. */
static int reap(pid_t pid, struct signals *s, bool launch)
{
    siginfo_t info;
    int status = 0;

    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        ;
    signals_to(s, launch, 0);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* A command under a filter ends with its tracer, by the kernel's SIGKILL. */
static void tell_crash(struct tracer_result *r, int status, bool takes_command)
{
    r->left_early = r->crashed = true;
    if (takes_command)
        r->wait_status = SIGKILL;
    if (WIFSIGNALED(status))
        flame_warn("the tracer was ended by signal %d; what it had recorded by then is there",
                   WTERMSIG(status));
    else if (WEXITSTATUS(status) == ALARMS_STUCK)
        flame_warn("the tracer hung and was ended; what it had recorded by then is there");
    else
        flame_warn("the tracer ended unexpectedly; what it had recorded by then is there");
}

int tracer_run(const struct tracer_options *o, struct tracer_result *r)
{
    bool launch = o->argv != NULL;
    struct tracing_outcome *outcome;
    pid_t caller = getpid(), pid;
    struct signals signals;
    int done[2], status;
    char word;

    *r = (struct tracer_result){0};
    outcome =
        mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (outcome == MAP_FAILED || pipe2(done, O_CLOEXEC) < 0)
        return flame_error(FLAME_FAILED, "cannot start the tracer: %s", strerror(errno));
    take_signals(&signals, launch);
    pid = fork();
    if (pid == 0) {
        close(done[0]);
        tracing_main(o, launch ? &signals.passed : NULL, caller, outcome, done[1]);
    }
    close(done[1]);
    status = errno;
    if (pid < 0) {
        close(done[0]);
        put_back_signals(&signals, launch);
        return flame_error(FLAME_FAILED, "cannot start the tracer: %s", strerror(status));
    }
    signals_to(&signals, launch, pid);
    word = last_word(done[0]);
    close(done[0]);
    if (word == TRACING_STAYS)
        signals_to(&signals, launch, 0);
    else
        status = reap(pid, &signals, launch);
    put_back_signals(&signals, launch);
    *r = outcome->result;
    if (!outcome->done)
        tell_crash(r, status, launch && !o->no_filter && !o->duration_ns);
    status = outcome->status;
    munmap(outcome, sizeof *outcome);
    return status;
}
