#define _GNU_SOURCE
#include "inject/allstop.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "common/procpath.h"
#include "common/strbuf.h"
#include "common/sysnr.h"
#include "inject/seccomp_query.h"
#include "inject/threadregs.h"
#include "tracer/ptrace/attach_error.h"
#include "tracer/ptrace/restart.h"
#include "tracer/ptrace/retry.h"
#include "tracer/offcpu/calls.h"
#include "tracer/objects/sleep_since.h"
#include "tracer/objects/proctask.h"

/* Time that a thread may take to stop before the others are resumed. It is short at first, because
 * the next attempt may find the thread running, and doubles with each failed attempt. */
#define PATIENCE_FIRST_NS 1000000u
#define PATIENCE_MOST_NS 100000000u
/* Sleep before a stop, so that flame has the processor for some of its time. */
#define REST_NS 1000000
#define SYSCALL_STOP (SIGTRAP | 0x80)
#define SPINS 8u

struct allstop {
    pid_t pid;
    struct allstop_thread *threads;
    size_t n, room;
    struct sleep_since *lastrun;
    struct strbuf why;
    uint64_t patience_ns;
    bool hurries; /* flame has a real-time priority */
    uint64_t began;
    uint64_t *times;
    size_t ntimes, times_room;
};

struct allstop *allstop_new(pid_t pid)
{
    struct allstop *a = xcalloc(1, sizeof *a);

    a->pid = pid;
    a->patience_ns = PATIENCE_FIRST_NS;
    a->why = (struct strbuf)STRBUF_INIT;
    a->lastrun = sleep_since_new();
    return a;
}

void allstop_free(struct allstop *a)
{
    if (!a)
        return;
    allstop_go(a);
    sleep_since_free(a->lastrun);
    strbuf_release(&a->why);
    free(a->threads);
    free(a->times);
    free(a);
}

const struct allstop_thread *allstop_threads(const struct allstop *a, size_t *n)
{
    *n = a->n;
    return a->threads;
}

const char *allstop_why(const struct allstop *a)
{
    return a->why.len ? a->why.buf : "";
}

size_t allstop_times(const struct allstop *a, const uint64_t **ns)
{
    *ns = a->times;
    return a->ntimes;
}

/* ---- the threads ---- */

static struct allstop_thread *find(struct allstop *a, pid_t tid)
{
    for (size_t i = 0; i < a->n; i++)
        if (a->threads[i].tid == tid)
            return &a->threads[i];
    return NULL;
}

/* Adds threads that are not in the list yet. Returns their number; -1: there is no such process. */
static int list_threads(struct allstop *a)
{
    DIR *dir = opendir(proc_path(a->pid, "task").s);
    struct dirent *d;
    int fresh = 0;

    if (!dir)
        return -1;
    while ((d = readdir(dir))) {
        pid_t tid = (pid_t)strtol(d->d_name, NULL, 10);

        if (tid <= 0 || find(a, tid))
            continue;
        GROW(a->threads, a->n, a->room);
        a->threads[a->n++] = (struct allstop_thread){.tid = tid};
        fresh++;
    }
    closedir(dir);
    return fresh;
}

static bool not_now(struct allstop *a, pid_t tid, const char *what)
{
    strbuf_clear(&a->why);
    strbuf_addf(&a->why, "thread %d %s", (int)tid, what);
    return false;
}

/* Whether a thread can be stopped now. */
static bool is_ready(struct allstop *a, struct allstop_thread *t)
{
    struct off_sched sched;
    struct task_call call;
    const struct call *known;
    unsigned long flags;
    char state;

    t->asleep_since = 0;
    if (!task_state(t->tid, &state, &flags) || !task_call(t->tid, &call))
        return true; /* it has ended, or seizing it will show why it cannot be traced */
    if (state == 'D')
        return not_now(a, t->tid, "is in a call that no signal ends (a vfork, a disk)");
    if (state == 'T')
        return not_now(a, t->tid, "is stopped (by SIGSTOP or a terminal); continue it first");
    if (call.where != TASK_IN_CALL)
        return true;
    known = call_find(call.nr);
    if (call.nr == SYS_restart_syscall || restart_exact(a->pid, t->tid, call.nr, call.args) ||
        !known)
        return true;
    if (known->timeout != CALL_NO_TIMEOUT && !(call_flags(call.nr, call.args) & CALL_SHORT) &&
        task_sched(t->tid, &sched) && sleep_since_ns(a->lastrun, t->tid, true, &t->asleep_since) &&
        t->asleep_since) {
        t->turns = sched.turns;
        return true;
    }
    strbuf_clear(&a->why);
    strbuf_addf(&a->why, "thread %d sleeps in system call %d, which an interruption would end",
                (int)t->tid, call.nr);
    return false;
}

/* ---- priority of flame's own thread ---- */

/*
 * All threads are stopped for as long as flame needs, and that is mostly for a processor: threads
 * that were resumed, and those of other processes, preempt it in the middle. So flame sleeps first,
 * because a thread that has slept gets a processor for some time. If it may (CAP_SYS_NICE,
 * RLIMIT_RTPRIO), it also runs before all others. Measured with four threads that never sleep on
 * two processors, beside other processes: stops of 20 ms in the median without both, 1.8 ms after a
 * sleep alone. Rejected: a shorter slice (sched_setattr, Linux 6.12), because it had no effect.
 */
static void hurry(struct allstop *a)
{
    const struct sched_param first = {.sched_priority = 1};

    nanosleep(&(struct timespec){0, REST_NS}, NULL);
    a->hurries =
        sched_getscheduler(0) == SCHED_OTHER && sched_setscheduler(0, SCHED_FIFO, &first) == 0;
}

static void take_time(struct allstop *a)
{
    const struct sched_param usual = {.sched_priority = 0};

    if (a->hurries)
        sched_setscheduler(0, SCHED_OTHER, &usual);
    a->hurries = false;
}

/* ---- stopping ---- */

/* Undoes the interruption's effect on the call that the thread was in. */
static void undo(const struct allstop *a, struct allstop_thread *t)
{
    struct ptraced p = {.tid = t->tid, .pid = a->pid};
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    t->nr = -1;
    t->by_block = false;
    if (!callregs_read(t->tid, &p.regs))
        return;
    t->regs = p.regs.user;
    t->seen.is = t->seen.is && threadregs_is_call(&t->regs, &t->seen);
    callregs_find_call(&p.regs, &t->seen, true);
    t->by_block = threadregs_by_block(&p.regs);
    t->nr = callregs_nr(&p.regs);
    if (t->nr == SYS_restart_syscall && t->seen.is)
        t->nr = t->seen.nr;
    if (t->signal)
        return; /* the signal ends the call in any case */
    if (restart_has_eintr(&p.regs) && t->asleep_since && now > t->asleep_since &&
        retry_sooner(&p, now, now - t->asleep_since))
        callregs_write(t->tid, &p.regs);
    else if (!CALLREGS_FORGETS || !retry_cut_short(&p))
        restart_undo_eintr(t->tid, &p.regs);
    t->regs = p.regs.user;
}

static void note_stop(const struct allstop *a, struct allstop_thread *t, int status)
{
    int event = status >> 16;

    t->stopped = true;
    t->plain = event == PTRACE_EVENT_STOP && WSTOPSIG(status) == SIGTRAP;
    t->signal = event ? 0 : WSTOPSIG(status);
    undo(a, t);
    t->control_block = threadregs_control_block(t->tid, &t->regs);
}

/* Handles a stop of the thread, if there is one. False: the thread has ended. */
static bool look_for_stop(const struct allstop *a, struct allstop_thread *t)
{
    int status;
    pid_t got = waitpid(t->tid, &status, __WALL | WNOHANG);

    if (got == 0)
        return true;
    if (got < 0 || !WIFSTOPPED(status))
        return false;
    note_stop(a, t, status);
    return true;
}

static void forget(struct allstop *a, size_t i)
{
    a->threads[i] = a->threads[--a->n];
}

/* Seizes threads that are not seized yet. 0, or an errno. */
static int seize_all(struct allstop *a)
{
    for (size_t i = 0; i < a->n; i++) {
        struct allstop_thread *t = &a->threads[i];

        if (t->seized)
            continue;
        if (ptrace(PTRACE_SEIZE, t->tid, 0, PTRACE_O_TRACESYSGOOD) < 0) {
            int err = errno;
            unsigned long flags;
            char state;

            /* The leader may have ended before other threads. */
            if (err == ESRCH || !task_state(t->tid, &state, &flags) || state == 'Z' ||
                state == 'X') {
                forget(a, i--);
                continue;
            }
            return err;
        }
        t->seized = true;
    }
    return 0;
}

/* Interrupts a thread. Where a stop does not show which call it ended, /proc is read just before.
 */
static void interrupt(struct allstop_thread *t)
{
    struct task_call c;

    t->seen.is = false;
    if (CALLREGS_FORGETS && task_call(t->tid, &c) && c.where == TASK_IN_CALL)
        restart_remember(&t->seen,
                         c.nr == SYS_restart_syscall ? restart_identity(t->tid, &c) : c.nr, c.args,
                         c.pc, c.sp);
    ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
}

/* Interrupts first the threads that sleep with a timeout, after a check of each; then the others,
 * whose calls may be affected by the stop, directly one after the other. */
static void interrupt_all(struct allstop *a)
{
    for (size_t i = 0; i < a->n; i++) {
        struct allstop_thread *t = &a->threads[i];
        struct off_sched sched;

        if (t->stopped || !t->asleep_since)
            continue;
        /* If it has run since is_ready, its timeout has only just begun. */
        if (!task_sched(t->tid, &sched) || sched.turns != t->turns)
            t->asleep_since = 0;
        else
            interrupt(t);
    }
    for (size_t i = 0; i < a->n; i++)
        if (!a->threads[i].stopped && !a->threads[i].asleep_since)
            interrupt(&a->threads[i]);
}

/* True: all are stopped. */
static bool wait_for_all(struct allstop *a)
{
    uint64_t until = clock_ns(CLOCK_MONOTONIC) + a->patience_ns;

    for (unsigned round = 0;; round++) {
        bool all = true;

        for (size_t i = 0; i < a->n; i++) {
            if (a->threads[i].stopped)
                continue;
            if (!look_for_stop(a, &a->threads[i])) {
                forget(a, i--);
                continue;
            }
            all = all && a->threads[i].stopped;
        }
        if (all)
            return true;
        if (clock_ns(CLOCK_MONOTONIC) > until)
            return false;
        /* A thread may need this very processor to stop. */
        if (round > SPINS)
            nanosleep(&(struct timespec){0, 20000}, NULL);
    }
}

static void let_go(const struct allstop_thread *t)
{
    ptrace(PTRACE_DETACH, t->tid, 0, t->signal);
}

void allstop_go(struct allstop *a)
{
    for (size_t i = 0; i < a->n; i++)
        if (a->threads[i].seized && a->threads[i].stopped)
            let_go(&a->threads[i]);
    if (a->began && a->n) {
        GROW(a->times, a->ntimes, a->times_room);
        a->times[a->ntimes++] = clock_ns(CLOCK_MONOTONIC) - a->began;
    }
    take_time(a);
    /* A thread that is not stopped cannot be detached. It stops later, after the others have been
     * resumed. */
    for (size_t i = 0; i < a->n; i++) {
        struct allstop_thread *t = &a->threads[i];
        int status;

        if (!t->seized || t->stopped || waitpid(t->tid, &status, __WALL) < 0 || !WIFSTOPPED(status))
            continue;
        note_stop(a, t, status);
        let_go(t);
    }
    a->began = 0;
    a->n = 0;
}

enum allstop_answer allstop_stop(struct allstop *a)
{
    int err, fresh;

    a->n = 0;
    hurry(a); /* before the threads are listed, because the list must be fresh */
    if (list_threads(a) < 0) {
        take_time(a);
        return ALLSTOP_GONE;
    }
    for (size_t i = 0; i < a->n; i++)
        if (!is_ready(a, &a->threads[i])) {
            a->n = 0;
            take_time(a);
            return ALLSTOP_AGAIN;
        }
    do {
        pid_t first = a->n ? a->threads[0].tid : a->pid;

        err = seize_all(a);
        if (!a->began)
            a->began = clock_ns(CLOCK_MONOTONIC);
        interrupt_all(a);
        if (err) {
            wait_for_all(a);
            allstop_go(a);
            attach_error_explain(first, err);
            return ALLSTOP_REFUSED;
        }
        if (!wait_for_all(a)) {
            not_now(a, a->pid, "did not stop");
            allstop_go(a);
            a->patience_ns =
                a->patience_ns * 2 < PATIENCE_MOST_NS ? a->patience_ns * 2 : PATIENCE_MOST_NS;
            return ALLSTOP_AGAIN;
        }
        fresh = list_threads(a);
    } while (fresh > 0);
    if (!a->n || fresh < 0) {
        allstop_go(a);
        return ALLSTOP_GONE;
    }
    a->patience_ns = PATIENCE_FIRST_NS;
    return ALLSTOP_OK;
}

/* ---- calls ---- */

/* Resumes the thread by `request` until its next stop, which must be `wanted`. */
static bool next_stop(struct allstop_thread *t, int request, int wanted)
{
    int status;

    for (int tries = 0; tries < 16; tries++) {
        if (ptrace(request, t->tid, 0, 0) < 0)
            return false;
        if (waitpid(t->tid, &status, __WALL) < 0 || !WIFSTOPPED(status)) {
            t->seized = t->stopped = false;
            return false;
        }
        if (status >> 8 == wanted)
            return true;
        /* Only SIGSTOP arrives in spite of the mask, and it is not lost when it is delivered
         * later. A fault would be that of the call. */
        if (!(status >> 16) && WSTOPSIG(status) == SIGSTOP)
            t->signal = SIGSTOP;
    }
    return false;
}

/* Stops the thread again. It is interrupted before it returns to the program, so none of the
 * program's code runs. The kernel restarts the call that it was in, as at any such stop. */
static void stand_again(struct allstop_thread *t)
{
    ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
    next_stop(t, PTRACE_CONT, SIGTRAP | PTRACE_EVENT_STOP << 8);
}

/* Whether a system call's instruction is there: the process may have executed another program since
 * it was found. */
static bool is_syscall(const struct allstop_thread *t, uintptr_t insn)
{
    static const uint8_t wanted[] = {THREADREGS_SYSCALL};
    uint8_t code[sizeof wanted];
    struct iovec here = {code, sizeof code}, there = {(void *)insn, sizeof code};

    return process_vm_readv(t->tid, &here, 1, &there, 1, 0) == sizeof code &&
           memcmp(code, wanted, sizeof code) == 0;
}

/*
 * Makes a call. flame may be killed at each step, so the return frame is written before the
 * registers are changed. Signals are blocked after that, because the frame contains the mask. They
 * are unblocked before the registers are the thread's own again.
 */
static long make_call(struct allstop_thread *t, const struct sigreturn_frame_code *code, long nr,
                      const unsigned long args[6])
{
    struct user_regs_struct r;
    uint64_t mask, none = ~(uint64_t)0;
    struct sigreturn_frame way = {.tid = t->tid};
    struct threadregs_kept kept;
    long result = -EAGAIN;

    if (t->by_block)
        threadregs_continue_by_block(&t->regs);
    r = t->regs;
    threadregs_call(&r, code->call, nr, args);
    if (!is_syscall(t, code->call) || !threadregs_keep(t->tid, &kept) ||
        ptrace(PTRACE_GETSIGMASK, t->tid, sizeof mask, &mask) < 0)
        return -EAGAIN;
    if (is_syscall(t, code->call_ret) && sigreturn_frame_lay(&way, t->tid, code, &t->regs, mask))
        sigreturn_frame_use(&way, code, &r);
    if (threadregs_write(t->tid, &r) &&
        ptrace(PTRACE_SETSIGMASK, t->tid, sizeof none, &none) == 0 &&
        next_stop(t, PTRACE_SYSCALL, SYSCALL_STOP) && next_stop(t, PTRACE_SYSCALL, SYSCALL_STOP) &&
        threadregs_read(t->tid, &r))
        result = threadregs_result(&r);
    if (t->seized) {
        stand_again(t);
        threadregs_put_back(t->tid, &kept);
        ptrace(PTRACE_SETSIGMASK, t->tid, sizeof mask, &mask);
        threadregs_write(t->tid, &t->regs);
    }
    sigreturn_frame_lift(&way);
    return result;
}

/* Whether a thread can make a call by that code. Not if its own call is to be made again there: the
 * kernel would take flame's for that one. */
static bool can_call(const struct allstop_thread *t, const struct sigreturn_frame_code *code)
{
    uintptr_t pc = threadregs_pc(&t->regs);
    struct threadregs_kept kept;

    return t->plain && t->stopped && pc != code->call && pc != code->call_ret &&
           threadregs_keep(t->tid, &kept);
}

/* Whether its registers can be restored exactly. A thread before a system call that was not seen in
 * it may be in a sleep of which flame does not know. */
static bool is_exact(const struct allstop_thread *t)
{
    return !t->by_block &&
           (!CALLREGS_FORGETS || t->seen.is || !is_syscall(t, threadregs_pc(&t->regs)));
}

/* A thread to make calls, preferably an exact one. */
static struct allstop_thread *who_calls(struct allstop *a, const struct sigreturn_frame_code *code)
{
    struct allstop_thread *found = NULL;

    for (size_t i = 0; i < a->n; i++) {
        struct allstop_thread *t = &a->threads[i];

        if (!can_call(t, code))
            continue;
        if (is_exact(t))
            return t;
        found = found ? found : t;
    }
    if (!found)
        not_now(a, a->pid, "and the others cannot make a call now");
    return found;
}

long allstop_call(struct allstop *a, const struct sigreturn_frame_code *code, long nr,
                  const unsigned long args[6])
{
    struct allstop_thread *t = who_calls(a, code);

    if (!t)
        return -EAGAIN;
    return seccomp_forbids(t->tid, nr, args) ? -EPERM : make_call(t, code, nr, args);
}
