/*
 * attach.c: attaches to a running program so that the program does not notice.
 *
 * PTRACE_SEIZE disturbs nothing, but a thread reports its calls only after one stop.
 * PTRACE_INTERRUPT makes that stop, and it ends the call a thread sleeps in. /proc/TID/syscall
 * shows that call beforehand. Where the interruption goes unnoticed or can be undone exactly
 * (restart.h), the thread is stopped at once. A thread in a call with a timeout is stopped at once
 * if the start of its sleep is known (sleep_since.h). The call is made again with the time that is
 * left (retry.h). Elsewhere the stop is put off: the thread sleeps on, and is checked every few ms
 * until it has left the call by itself. If it is in a call again by then, that call's timeout has
 * only just begun. Beginning it anew makes no difference that counts.
 *
 * A call that may be half done (a write to a full pipe) is never interrupted. A running thread may
 * be inside such a call, so it is checked for a while. If it is seen asleep, its call decides. If
 * it runs on and on without having slept, it is not in the middle of a write. (That it is always
 * runnable proves less: on a loaded machine a writing thread spends its time waiting for a CPU.)
 *
 * The kernel drops an ignored signal only while the receiving thread is not seized. (The receiver
 * of SIGCHLD is the thread that made the child.) If that thread is seized and stopped at that
 * moment, the kernel wakes any other thread of the process instead. A call that cannot be restarted
 * then returns EINTR. If that thread is attached by then, flame undoes the EINTR. So threads that
 * sleep in such calls are stopped first, and the others are seized after them.
 *
 * No thread stays stopped while the tracer works for another:
 *
 *   1. All threads are listed and their calls read. The data for their stacks (maps, tables) is
 *      read before the first thread is touched.
 *   2. Then they are stopped one by one, from the event loop, and only while no stopped thread
 *      waits to be resumed. A few interruptions may be pending at a time, as on a loaded machine
 *      each thread waits for a CPU before it can stop.
 *   3. At its first stop a thread is resumed before its events are emitted.
 *
 * Rejected: interrupting all at once, because the last of 2,000 threads was stopped until the
 * events of the others had been emitted, for 98 ms; on a loaded machine two idle writers of
 * PostgreSQL were stopped for 1.16 s.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/procpath.h"
#include "common/error.h"
#include "common/alloc.h"
#include "tracer/ptrace/attach_error.h"
#include "tracer/ptrace/restart.h"
#include "tracer/ptrace/source_state.h"
#include "tracer/offcpu/calls.h"
#include "tracer/objects/sleep_since.h"
#include "tracer/objects/proctask.h"

/* CPU time without a sleep after which a thread is not in the middle of a write. A write to a pipe
 * or a socket copies for far less time before it sleeps. */
#define AWAKE_NS 4000000u
/* Interruptions that may be pending at once. The kernel wakes that many threads, and each may stop
 * while the events of another are emitted. */
#define AT_ONCE 8

/* Order in which threads are attached to. */
enum rank {
    RANK_PUT_OFF,   /* it sleeps where it must not be stopped */
    RANK_CUT_SHORT, /* it sleeps in a call that any signal would end */
    RANK_OTHERS,    /* runs, and may be in such a call soon */
    RANK_LEADER,    /* the target of most signals */
};
/* Time for which the leader waits until other running threads have been seen in a call. */
#define PATIENCE_NS 50000000u

struct candidate {
    pid_t tid, pid;
    enum rank rank;
    uint64_t turns;  /* off_sched.turns when its call was read */
    uint64_t asleep; /* start of its sleep then in a call with a timeout; 0: not asleep in one, or
                        unknown */
};

struct attach {
    struct candidate *list;
    size_t n, room;
    size_t next;   /* index of the next; earlier ones have been seized */
    size_t seized; /* threads seized since the list was made */
    bool any;
    uint64_t since; /* time of the first seizure */
    struct sleep_since *lastrun;
};

void attach_free(struct attach *a)
{
    if (!a)
        return;
    sleep_since_free(a->lastrun);
    free(a->list);
    free(a);
}

/* ---- candidates ---- */

static void add_candidate(struct attach *a, pid_t tid, pid_t pid)
{
    GROW(a->list, a->n, a->room);
    a->list[a->n++] =
        (struct candidate){.tid = tid, .pid = pid, .rank = tid == pid ? RANK_LEADER : RANK_OTHERS};
}

/* Lists the threads of a process that are not traced. False: there is no such process. */
static bool list_threads(const struct source *s, struct attach *a, pid_t pid)
{
    struct dirent *d;
    DIR *dir = opendir(proc_path(pid, "task").s);

    if (!dir)
        return false;
    while ((d = readdir(dir))) {
        pid_t tid = (pid_t)strtol(d->d_name, NULL, 10);

        if (tid > 0 && !ptraced_find(s->threads, tid))
            add_candidate(a, tid, pid);
    }
    closedir(dir);
    return true;
}

/* Ranks a sleeping thread by its call. */
static void judge(struct attach *a, struct candidate *c, const struct task_call *call)
{
    struct off_sched sched;
    const struct call *known = call_find(call->nr);
    unsigned flags = call_flags(call->nr, call->args);

    if (!known || !task_sched(c->tid, &sched))
        return;
    c->turns = sched.turns;
    if (restart_exact(c->pid, c->tid, call->nr, call->args)) {
        if (flags & CALL_EINTR)
            c->rank = RANK_CUT_SHORT;
        return;
    }
    if (known->timeout != CALL_NO_TIMEOUT && !sleep_since_ns(a->lastrun, c->tid, true, &c->asleep))
        c->asleep = 0;
    c->rank = c->asleep ? RANK_CUT_SHORT : RANK_PUT_OFF;
}

/* Reads a thread's call and ranks the thread. Has the client prepare for the stack of a sleeping
 * thread, or for the process of a running one. */
static void look_at(const struct source *s, struct attach *a, struct candidate *c)
{
    struct callregs regs;
    struct task_call call;

    if (!task_call(c->tid, &call))
        return;
    if (call.where == TASK_IN_CALL)
        judge(a, c, &call);
    if (call.where != TASK_RUNS)
        regs = callregs_asleep(call.pc, call.sp);
    if (s->client.prepare)
        s->client.prepare(s->client.arg, c->pid, c->tid,
                          call.where == TASK_RUNS ? NULL : &regs.user);
}

static int by_rank(const void *pa, const void *pb)
{
    const struct candidate *a = pa, *b = pb;

    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->tid > b->tid) - (a->tid < b->tid);
}

/* ---- seizing ---- */

/* Seizes a thread: 0, or an errno. */
static int seize(struct source *s, const struct candidate *c)
{
    if (ptrace(PTRACE_SEIZE, c->tid, 0, s->ptrace_options) < 0)
        return errno;
    ptraced_add(s->threads, c->tid, c->pid)->fresh = true;
    s->attach->seized++;
    s->attach->any = true;
    return 0;
}

/* Seizes one thread of each process, to learn whether the process may be traced: 0, or an enum
 * flame_exit after a line. */
static int seize_one_of_each(struct source *s, const struct attach *a)
{
    for (size_t p = 0; p < s->opt.npids; p++) {
        size_t i = 0;
        int err;

        while (i < a->n && a->list[i].pid != s->opt.pids[p])
            i++;
        if (i == a->n) /* the same pid twice */
            continue;
        err = ptraced_find(s->threads, a->list[i].tid) ? 0 : seize(s, &a->list[i]);
        /* ESRCH: the thread has ended meanwhile; other threads of its process may still exist. */
        if (err && !(err == ESRCH && a->list[i].tid != a->list[i].pid))
            return attach_error_explain(a->list[i].tid, err);
    }
    return 0;
}

static void emit_asleep(struct source *s, struct ptraced *t, const struct task_call *c)
{
    struct off_event e = {
        .kind = OFF_ENTRY, .time = source_now(), .attached_in_call = true, .nr = c->nr};

    memcpy(e.args, c->args, sizeof e.args);
    memcpy(t->args, c->args, sizeof t->args);
    t->nr = c->nr;
    t->regs = callregs_asleep(c->pc, c->sp);
    t->have_regs = true;
    t->unseen = true;
    s->unseen++;
    source_emit(s, t, &e);
}

/* Reads a thread's scheduler counters. True when it has run for so long since it last slept that it
 * is not in the middle of a call that may sleep. *moved: it ran since the last check. The kernel
 * counts the time of a running thread by its own ticks, of up to 10 ms. */
static bool busy(struct ptraced *t, bool *moved)
{
    struct off_sched sched;
    long slept;

    *moved = false;
    if (!task_sched(t->tid, &sched))
        return false;
    *moved = t->turns != sched.turns;
    t->timed = t->timed && !*moved;
    t->turns = sched.turns;
    slept = task_status(t->tid, "voluntary_ctxt_switches");
    if (slept < 0)
        return false;
    if (slept != t->slept) {
        t->slept = slept;
        t->ran_by_then = sched.cpu_ns;
    }
    return sched.cpu_ns - t->ran_by_then >= AWAKE_NS;
}

/* Whether the thread sleeps in a call with a timeout, and the start of the sleep is known. */
static bool is_timed(const struct source *s, struct ptraced *t, const struct task_call *c)
{
    const struct call *known = call_find(c->nr);

    if (!known || known->timeout == CALL_NO_TIMEOUT)
        return false;
    if (!t->timed && s->attach)
        t->timed = sleep_since_ns(s->attach->lastrun, t->tid, true, &t->entered);
    return t->timed; /* valid until the thread is seen to have run again */
}

/* Interrupts a thread. Where a stop does not show which call it ended, /proc is read just before
 * the stop (callregs_aarch64.h). */
static void look_and_interrupt(struct source *s, struct ptraced *t)
{
    struct task_call c;

    t->seen.is = false;
    if (CALLREGS_FORGETS && task_call(t->tid, &c) && c.where == TASK_IN_CALL)
        restart_remember(&t->seen, c.nr, c.args, c.pc, c.sp);
    stops_interrupt(s, t, false);
}

/* Interrupts a thread if its call allows it, or emits the call it sleeps in. The thread has not
 * been interrupted yet, and no call of it has been emitted. */
static void decide(struct source *s, struct ptraced *t, bool is_busy, bool moved)
{
    struct task_call c;

    if (!task_call(t->tid, &c))
        return; /* ended */
    switch (c.where) {
    case TASK_RUNS:
        if (is_busy)
            look_and_interrupt(s, t);
        return;
    case TASK_FAULTS:
        break;
    case TASK_IN_CALL:
        t->asleep = source_now();
        if (c.nr == SYS_restart_syscall) {
            restart_remember(&t->cut, restart_identity(t->tid, &c), c.args, c.pc, c.sp);
        } else if (!restart_exact(t->pid, t->tid, c.nr, c.args) && !is_timed(s, t, &c) &&
                   (call_flags(c.nr, c.args) & CALL_SHORT || !moved)) {
            emit_asleep(s, t, &c);
            return;
        }
    }
    look_and_interrupt(s, t);
}

/* ---- one after the other ---- */

int attach_processes(struct source *s)
{
    struct attach *a = s->attach = xcalloc(1, sizeof *a);
    int err = 0;

    s->ptrace_options =
        PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT;
    if (!s->opt.no_follow)
        s->ptrace_options |= PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
    for (size_t i = 0; i < s->opt.npids && !err; i++)
        err = attach_error_foreseen(s->opt.pids[i], s->opt.caller);
    for (size_t i = 0; i < s->opt.npids && !err; i++)
        if (!list_threads(s, a, s->opt.pids[i]))
            err = attach_error_explain(s->opt.pids[i], ESRCH);
    if (err)
        return err;
    a->lastrun = sleep_since_new();
    for (size_t i = 0; i < a->n; i++)
        look_at(s, a, &a->list[i]);
    qsort(a->list, a->n, sizeof *a->list, by_rank);
    a->since = source_now();
    return seize_one_of_each(s, a);
}

/* Lists again: other threads may have made threads before they were seized. Threads that cannot be
 * seized in two passes in a row are left alone. */
static bool list_again(struct source *s)
{
    struct attach *a = s->attach;

    if (!a->seized)
        return false;
    a->n = a->next = a->seized = 0;
    for (size_t i = 0; i < s->opt.npids; i++)
        list_threads(s, a, s->opt.pids[i]);
    return a->n > 0;
}

static void attached(struct source *s)
{
    if (!s->attach->any)
        s->failed = attach_error_explain(s->opt.pids[0], ESRCH);
    attach_free(s->attach);
    s->attach = NULL;
    s->began = source_now();
}

static void emit_begin(struct source *s, struct ptraced *t)
{
    struct off_event e = {.kind = OFF_THREAD_BEGIN, .time = source_now()};

    t->begun = true;
    source_emit(s, t, &e);
}

void attach_on_first_stop(struct source *s, struct ptraced *t)
{
    if (!t->begun)
        emit_begin(s, t);
}

/* Begins a thread that has not been stopped yet. */
static void begin(struct source *s, struct ptraced *t, const struct candidate *c)
{
    bool moved;

    t->put_off = true;
    s->put_off++;
    emit_begin(s, t);
    busy(t, &moved);
    /* It is still in the same sleep if it has not run since. */
    t->timed = c->asleep && t->turns == c->turns;
    t->entered = t->timed ? c->asleep : 0;
    decide(s, t, false, false);
}

/* Whether a thread of this rank must wait for threads of an earlier rank. */
static bool is_early(const struct source *s, enum rank rank)
{
    const struct attach *a = s->attach;
    bool first = !a->next || a->list[a->next - 1].rank == rank;

    if (rank < RANK_OTHERS || first)
        return false;
    return s->interrupts || (s->put_off > s->unseen && source_now() - a->since < PATIENCE_NS);
}

bool attach_next(struct source *s)
{
    struct attach *a = s->attach;
    const struct candidate *c;
    struct ptraced *t;

    if (s->interrupts >= AT_ONCE)
        return false;
    if (a->next == a->n && !list_again(s)) {
        attached(s);
        return true;
    }
    c = &a->list[a->next];
    if (is_early(s, c->rank))
        return false;
    a->next++;
    /* Fails if the thread has ended, or if a traced thread made it: it is traced already. */
    if (!ptraced_find(s->threads, c->tid) && seize(s, c) != 0)
        return true;
    t = ptraced_find(s->threads, c->tid);
    if (t->fresh && !t->begun)
        begin(s, t, c);
    return true;
}

/* ---- threads put off ---- */

/* Whether a thread whose call was emitted while it slept has left that call, or may be stopped in
 * it nevertheless. */
static bool has_left(struct ptraced *t, bool is_busy, bool moved)
{
    struct task_call c;

    if (!moved)
        return false;
    if (!(call_flags(t->nr, t->args) & CALL_SHORT))
        return true;
    if (!task_call(t->tid, &c))
        return false;
    if (c.where == TASK_RUNS)
        return is_busy;
    return c.where == TASK_FAULTS || !(call_flags(c.nr, c.args) & CALL_SHORT) ||
           restart_exact(t->pid, t->tid, c.nr, c.args);
}

void attach_look(struct source *s)
{
    struct ptraced *t;

    for (t = s->put_off ? ptraced_first(s->threads) : NULL; t; t = t->next) {
        bool is_busy, moved;

        if (!t->put_off)
            continue;
        is_busy = busy(t, &moved);
        if (!t->unseen)
            decide(s, t, is_busy, moved);
        else if (has_left(t, is_busy, moved))
            look_and_interrupt(s, t);
    }
}
