/*
 * Problem: the tracing loop may hang where no signal handler runs, or where the loop does not check
 * what a handler has set. A thread that reads another's memory may wait in the kernel for the page,
 * and only SIGKILL wakes it. A thread that stops again and again can keep a loop busy. A request to
 * end would then wait for ever.
 *
 * So the signals are blocked, and a second thread takes them from the kernel (sigwaitinfo). It
 * sends the first thread SIGALRM until that thread has read the pending requests.
 *
 * Rejected: a handler in the first thread, because a read that hangs never runs it; alarm(2) and
 * the default action, because they would also end the process in the middle of an orderly end.
 */
#define _GNU_SOURCE
#include "tracer/ptrace/control_signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "common/signals/signal_outlive.h"

#define PATIENCE_MS 700
#define LAST_WORK_MS 5000 /* from the request to end until the end */
#define STEP_MS 10
#define LISTENER_STACK (64 << 10)

static const int passed_on[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
static const int terminal[] = {SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU};

/* Written by one thread and read by the other. The listener sets `said` and waits until the tracing
 * thread clears it. */
static int any, ticked, ended, orphaned, said, pending[ARRAY_LEN(passed_on)];
static pid_t sender, command, parent;
static pthread_t tracing;

static void set(int *flag)
{
    __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
}

static bool take(int *flag)
{
    return __atomic_exchange_n(flag, 0, __ATOMIC_SEQ_CST);
}

static bool is(const int *flag)
{
    return __atomic_load_n(flag, __ATOMIC_SEQ_CST);
}

static void tick(int sig)
{
    (void)sig;
    set(&ticked);
    set(&any);
}

/* Signal by which the kernel reports the caller's end (PR_SET_PDEATHSIG); it has no other use. */
static int gone_signal(void)
{
    return SIGRTMIN;
}

/* ---- the listener ---- */

static void sleep_ms(long ms)
{
    struct timespec ts = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&ts, NULL);
}

static bool is_asked_for(void)
{
    for (int ms = 0; ms < PATIENCE_MS && is(&said); ms += STEP_MS) {
        pthread_kill(tracing, SIGALRM);
        sleep_ms(STEP_MS);
    }
    return !is(&said);
}

/* Ends the command and this process. While the loop hangs, the command's status is not reaped, so
 * its pid is not in use again. */
static void give_up(int sig)
{
    pid_t pid = __atomic_load_n(&command, __ATOMIC_SEQ_CST);

    if (pid > 0)
        kill(pid, sig);
    _exit(CONTROL_STUCK);
}

/* Records the request that a signal makes. False: it makes none. */
static bool note(const siginfo_t *info)
{
    bool launch = sender >= 0, ends = false;

    if (info->si_signo == gone_signal()) {
        if (getppid() == parent) /* sent by another process: the caller still runs */
            return false;
        set(launch ? &orphaned : &ended);
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(ending); i++)
        ends = ends || ending[i] == info->si_signo;
    if (!launch) {
        if (ends)
            set(&ended);
        return ends;
    }
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++)
        if (passed_on[i] == info->si_signo && info->si_code <= 0 && info->si_pid == sender)
            set(&pending[i]);
    /* A hanging loop must end, whichever process sent the signal. */
    return true;
}

/* Runs from a request to end until the process has ended; ends the process if the loop hangs. */
static void see_to_the_end(void)
{
    for (int ms = 0; ms < LAST_WORK_MS; ms += STEP_MS) {
        set(&said);
        set(&any);
        if (!is_asked_for())
            break;
        sleep_ms(STEP_MS);
    }
    give_up(SIGTERM);
}

static void *listen_to(void *arg)
{
    const sigset_t *heard = arg;
    siginfo_t info;

    for (;;) {
        if (sigwaitinfo(heard, &info) < 0 || !note(&info))
            continue;
        set(&said);
        set(&any);
        if (!is_asked_for() && info.si_signo != SIGUSR1 && info.si_signo != SIGUSR2)
            give_up(info.si_signo == gone_signal() ? SIGKILL : info.si_signo);
        if (is(&ended))
            see_to_the_end();
    }
    return NULL;
}

/* ---- the tracing thread ---- */

bool control_signals_expect(pid_t caller)
{
    sigset_t gone;

    parent = caller;
    sigemptyset(&gone);
    sigaddset(&gone, gone_signal());
    sigprocmask(SIG_BLOCK, &gone, NULL);
    prctl(PR_SET_PDEATHSIG, gone_signal());
    return getppid() == caller; /* it may have ended before */
}

void control_signals_forget_caller(void)
{
    prctl(PR_SET_PDEATHSIG, 0);
}

/* Signal handler, used where no listener could be started. */
static void hear(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)context;
    if (note(info))
        set(&any);
}

static bool start_listener(sigset_t *heard)
{
    pthread_attr_t attr;
    pthread_t listener;
    int err;

    tracing = pthread_self();
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, LISTENER_STACK);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    err = pthread_create(&listener, &attr, listen_to, heard);
    pthread_attr_destroy(&attr);
    return !err;
}

static void listen_for(const int *sigs, size_t n)
{
    /* A blocked signal whose action is to be ignored is never delivered, so each gets a handler. */
    struct sigaction sa = {.sa_sigaction = hear, .sa_flags = SA_SIGINFO};
    static sigset_t heard;
    sigset_t all;

    sigemptyset(&heard);
    sigaddset(&heard, gone_signal());
    sigaction(gone_signal(), &sa, NULL);
    for (size_t i = 0; i < n; i++) {
        sigaddset(&heard, sigs[i]);
        sigaction(sigs[i], &sa, NULL);
    }
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    if (!start_listener(&heard))
        sigemptyset(&heard);
    sigprocmask(SIG_SETMASK, &heard, NULL);
}

/* No SA_RESTART: the signal must interrupt the wait. */
void control_signals_set(pid_t caller)
{
    struct sigaction sa = {.sa_handler = tick};

    sender = caller ? caller : -1;
    sigaction(SIGALRM, &sa, NULL);
    sa.sa_handler = SIG_IGN;
    for (size_t i = 0; i < ARRAY_LEN(terminal); i++)
        sigaction(terminal[i], &sa, NULL);
    sigaction(SIGPIPE, &sa, NULL); /* the process that reads our last output may have ended */
    listen_for(caller ? passed_on : ending, caller ? ARRAY_LEN(passed_on) : ARRAY_LEN(ending));
}

void control_signals_command(pid_t pid)
{
    __atomic_store_n(&command, pid, __ATOMIC_SEQ_CST);
    signal_outlive_to(pid);
}

void control_signals_tick_every(uint64_t ns)
{
    struct timeval tv = {(time_t)(ns / 1000000000u), (suseconds_t)(ns % 1000000000u / 1000u)};
    struct itimerval it = {tv, tv};

    setitimer(ITIMER_REAL, &it, NULL);
}

bool control_signals_any(void)
{
    if (likely(!__atomic_load_n(&any, __ATOMIC_RELAXED)) || !take(&any))
        return false;
    take(&said);
    return true;
}

bool control_signals_pending(void)
{
    return __atomic_load_n(&any, __ATOMIC_RELAXED);
}

void control_signals_goes_on(void)
{
    take(&said);
}

bool control_signals_ticked(void)
{
    return take(&ticked);
}

bool control_signals_end(void)
{
    return is(&ended);
}

void control_signals_request_end(void)
{
    set(&ended);
    set(&any);
}

bool control_signals_orphaned(void)
{
    return take(&orphaned);
}

int control_signals_signal(void)
{
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++)
        if (take(&pending[i]))
            return passed_on[i];
    return 0;
}
