/*
 * tracer.c: the caller's side: starts the tracing process, passes signals on to it and waits for
 * its result.
 */
#define _GNU_SOURCE
#include "tracer/tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/lazyload/lazyload.h"
#include "common/signals/signal_outlive.h"
#include "tracer/ptrace/control_signals.h"
#include "tracer/tracer_process.h"

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
    signal_outlive_begin();
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
    signal_outlive_end();
    for (size_t i = 0; i < ARRAY_LEN(ending); i++)
        sigaction(ending[i], &s->action[i], NULL);
    sigprocmask(SIG_SETMASK, &s->mask, NULL);
}

/* ---- the run ---- */

/* The next byte of the tracing process (enum tracer_word), or 0 when it ended without one. */
static char next_word(int fd)
{
    char word = 0;
    ssize_t n;

    do
        n = read(fd, &word, 1);
    while (n < 0 && errno == EINTR);
    return n == 1 ? word : 0;
}

/* Waits for the tracing process's end without reaping it, so that no other process gets its id
 * while a signal handler may use it; then reaps it. */
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
static void print_crash(struct tracer_result *r, int status, bool takes_command)
{
    r->left_early = r->crashed = true;
    if (takes_command)
        r->wait_status = SIGKILL;
    if (WIFSIGNALED(status))
        flame_warn("the tracer was ended by signal %d; the recording up to then is kept",
                   WTERMSIG(status));
    else if (WEXITSTATUS(status) == CONTROL_STUCK)
        flame_warn("the tracer hung and was ended; the recording up to then is kept");
    else
        flame_warn("the tracer ended unexpectedly; the recording up to then is kept");
}

struct tracer {
    const struct tracer_options *opt;
    struct tracer_outcome *outcome; /* the tracing process writes it */
    struct signals signals;
    pid_t pid;
    int done;  /* descriptor from which the enum tracer_word is read */
    char word; /* the last one */
    enum tracer_state state;
};

static struct tracer_outcome *share_outcome(void)
{
    void *at = mmap(NULL, sizeof(struct tracer_outcome), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return at == MAP_FAILED ? NULL : at;
}

static void forget(struct tracer *t)
{
    close(t->done);
    munmap(t->outcome, sizeof *t->outcome);
    free(t);
}

/* The libraries that the tracing process uses, so that none is missing while it holds a command: a
 * command under a filter would end with it. */
static int load_libraries(void)
{
    static const char *const names[] = {"libseccomp.", "libunwind-", "libelf.",
                                        "libz.",       "libm.",      NULL};

    return late_load ? late_load(names) : FLAME_OK;
}

int tracer_begin(const struct tracer_options *o, struct tracer **out)
{
    struct tracer_outcome *outcome;
    pid_t caller = getpid();
    struct tracer *t;
    int done[2], err;

    if (load_libraries() != FLAME_OK)
        return FLAME_FAILED;
    outcome = share_outcome();
    if (!outcome || pipe2(done, O_CLOEXEC) < 0)
        return flame_error(FLAME_FAILED, "cannot start the tracer: %s", strerror(errno));
    t = xcalloc(1, sizeof *t);
    *t = (struct tracer){.opt = o, .outcome = outcome, .done = done[0]};
    take_signals(&t->signals, o->argv != NULL);
    t->pid = fork();
    if (t->pid == 0) {
        close(done[0]);
        tracer_process_main(o, o->argv ? &t->signals.passed : NULL, caller, outcome, done[1]);
    }
    err = errno;
    close(done[1]);
    if (t->pid < 0) {
        put_back_signals(&t->signals, o->argv != NULL);
        forget(t);
        return flame_error(FLAME_FAILED, "cannot start the tracer: %s", strerror(err));
    }
    signals_to(&t->signals, o->argv != NULL, t->pid);
    *out = t;
    return 0;
}

static void take_word(struct tracer *t)
{
    t->word = next_word(t->done);
    t->state = t->word == TRACER_TRACES_NOW ? TRACER_TRACES : TRACER_OVER;
}

enum tracer_state tracer_poll(struct tracer *t, uint64_t ns)
{
    struct pollfd p = {.fd = t->done, .events = POLLIN};

    if (t->state != TRACER_OVER && poll(&p, 1, (int)(ns / 1000000)) > 0)
        take_word(t);
    return t->state;
}

void tracer_request_end(const struct tracer *t)
{
    kill(t->pid, SIGTERM);
}

int tracer_end(struct tracer *t, struct tracer_result *r)
{
    const struct tracer_options *o = t->opt;
    bool launch = o->argv != NULL;
    int status = 0;

    while (t->state != TRACER_OVER)
        take_word(t);
    if (t->word == TRACER_STAYS)
        signals_to(&t->signals, launch, 0);
    else
        status = reap(t->pid, &t->signals, launch);
    put_back_signals(&t->signals, launch);
    *r = t->outcome->result;
    if (!t->outcome->done)
        print_crash(r, status, launch && !o->no_filter && !o->duration_ns);
    status = t->outcome->status;
    forget(t);
    return status;
}
