/*
 * nostop.c: the loop of the no-stop source, its list of threads, and the events it emits.
 *
 * The loop goes by the clock. A thread that has slept for options.least_ns must have been sampled
 * before, so a tick is three quarters of that. A thread that has slept for an eighth of it at a
 * tick is sampled. Measured with redis and 50 clients on a loaded machine of two processors: a
 * request took 7 % more processor time with 2,000 ticks a second, and 2.6 % with 667. The kernel's
 * records alone cost as much as the latter. Rejected: wakeups by the kernel's records, because a
 * wakeup for each switch takes more than the switch. Rejected: a wait for the first moment at which
 * a sample is due. Only the rings show which thread has left a processor, and they are not read
 * during a wait.
 */
#define _GNU_SOURCE
#include "tracer/nostop/nostop.h"

#include <dirent.h>
#include <errno.h>
#include <linux/sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/procpath.h"
#include "tracer/ptrace/control_signals.h"
#include "tracer/ptrace/attach_error.h"
#include "tracer/nostop/nostop_state.h"

#define BEAT_NS 100000000u
#define LIST_NS 20000000u    /* between lists of threads, where the kernel gives no records */
#define FLUSH_NS 1000000000u /* most time between reports of a thread's unsampled sleeps */
#define TICK_MOST_NS 10000000u
#define SLACK_NS 1000

struct nostop *nostop_new(const struct nostop_options *o, const struct nostop_client *c)
{
    struct nostop *q = xcalloc(1, sizeof *q);

    q->opt = *o;
    q->client = *c;
    if (q->opt.least_ns < NOSTOP_LEAST_NS)
        q->opt.least_ns = NOSTOP_LEAST_NS;
    q->tick_ns = q->opt.least_ns / 4 * 3;
    if (q->tick_ns > TICK_MOST_NS)
        q->tick_ns = TICK_MOST_NS;
    return q;
}

/* ---- events ---- */

void nostop_emit(struct nostop *q, struct nostop_thread *t, struct off_event *e,
                 const struct off_sched *at)
{
    e->tid = t->tid;
    e->pid = t->pid;
    q->telling = t->tid;
    q->figures = *at;
    q->client.event(q->client.arg, e);
    q->telling = 0;
}

void nostop_emit_passed(struct nostop *q, struct nostop_thread *t, uint64_t time,
                        const struct off_sched *at)
{
    struct off_event e = {.kind = OFF_UNSAMPLED, .time = time, .unsampled = &t->passed};

    t->flushed = time;
    nostop_emit(q, t, &e, at);
    t->passed = (struct off_unsampled){.too_short = {0, 0, 0}};
}

bool nostop_read(struct nostop *q, struct nostop_thread *t)
{
    struct off_sched now;

    if (!q->client.sched(q->client.arg, t->tid, &now))
        return false;
    t->at = now;
    t->ran_at = t->nap.ran_ns;
    t->wait_at = t->nap.wait_ns;
    return true;
}

struct off_sched nostop_reckon(const struct nostop_thread *t)
{
    struct off_sched s = t->at;

    s.cpu_ns += t->nap.ran_ns - t->ran_at;
    s.runq_ns += t->nap.wait_ns - t->wait_at;
    return s;
}

bool nostop_sched(struct nostop *q, pid_t tid, struct off_sched *out)
{
    bool known = true;

    if (q->telling == tid)
        *out = q->figures;
    else
        known = q->client.sched(q->client.arg, tid, out);
    out->turns = 0;
    return known;
}

struct nostop_counts nostop_counts(const struct nostop *q)
{
    return q->counts;
}

/* ---- threads ---- */

struct nostop_thread *nostop_find(struct nostop *q, pid_t tid)
{
    struct nostop_thread *t;

    HASH_FIND_INT(q->threads, &tid, t);
    return t;
}

bool nostop_watches(const struct nostop *q, pid_t pid)
{
    for (const struct nostop_thread *t = q->threads; t; t = t->hh.next)
        if (t->pid == pid)
            return true;
    return false;
}

bool nostop_left(const struct nostop *q)
{
    return q->threads != NULL;
}

struct nostop_thread *nostop_add(struct nostop *q, pid_t tid, pid_t pid, uint64_t time,
                                 pid_t parent)
{
    struct off_event e = {
        .kind = OFF_THREAD_BEGIN, .time = time, .newborn = parent != 0, .parent_tid = parent};
    struct nostop_thread *t = nostop_find(q, tid);
    const struct nostop_thread *maker = parent ? nostop_find(q, parent) : NULL;
    struct task_call call;

    if (t)
        return NULL;
    t = xcalloc(1, sizeof *t);
    t->tid = tid;
    t->pid = pid;
    t->flushed = t->still = time;
    HASH_ADD_INT(q->threads, tid, t);
    if (maker && maker->pid == pid)
        e.args[0] = CLONE_VM | CLONE_THREAD;
    nostop_emit(q, t, &e, &t->at);
    if (!parent) {
        nostop_read(q, t);
        t->from_begin = task_call(tid, &call) && call.where != TASK_RUNS;
        switch_interval_found(&t->nap, time, t->from_begin);
        t->before = t->at;
    }
    return t;
}

void nostop_ends(struct nostop *q, struct nostop_thread *t, uint64_t time)
{
    struct off_event e = {.kind = OFF_THREAD_END, .time = time};
    struct off_sched last = nostop_reckon(t);

    nostop_sleeps_on(q, t, time);
    nostop_emit_passed(q, t, time, &last);
    nostop_emit(q, t, &e, &last);
    if (q->next == t)
        q->next = NULL;
    HASH_DEL(q->threads, t);
    free(t);
}

/* Watches and adds the threads of a process that are not known yet. 0; or -errno with *why, if the
 * kernel refuses records of them. *more is set if there were any. */
static int list_process(struct nostop *q, pid_t pid, uint64_t time, bool *more, struct strbuf *why)
{
    DIR *dir = opendir(proc_path(pid, "task").s);
    int err = 0;

    for (struct dirent *d; dir && !err && (d = readdir(dir));) {
        pid_t tid = (pid_t)strtol(d->d_name, NULL, 10);

        if (tid <= 0 || nostop_find(q, tid))
            continue;
        if (q->rings)
            err = switch_rings_add(q->rings, tid, why);
        if (!err) {
            nostop_add(q, tid, pid, time, 0);
            *more = true;
        } else if (err == -ESRCH) {
            err = 0;
        }
    }
    if (dir)
        closedir(dir);
    return err;
}

/* Lists the threads of all requested processes, until a pass finds no new ones: threads may make
 * others while they are listed. */
static int list_all(struct nostop *q, uint64_t time, struct strbuf *why)
{
    bool more = true;
    int err = 0;

    while (more && !err) {
        more = false;
        for (size_t i = 0; i < q->opt.npids && !err; i++)
            err = list_process(q, q->opt.pids[i], time, &more, why);
    }
    return err;
}

void nostop_list(struct nostop *q, uint64_t now)
{
    struct strbuf why = STRBUF_INIT;

    q->listed = now;
    list_all(q, now, &why); /* a thread that is refused now is not watched */
    strbuf_release(&why);
}

/* ---- the beginning ---- */

/* 0 or FLAME_USAGE after a line. */
static int check(pid_t pid, pid_t caller)
{
    struct task_call call;
    struct iovec ours = {NULL, 0}, theirs = {NULL, 0};
    int err = attach_error_foreseen(pid, caller);

    if (err)
        return err;
    /* Nothing is read: this tests whether the call exists and no filter forbids it. */
    if (process_vm_readv(pid, &ours, 1, &theirs, 1, 0) < 0)
        return attach_error_of_looking(pid, errno);
    errno = EPERM;
    return task_call(pid, &call) ? 0 : attach_error_of_looking(pid, errno);
}

int nostop_start(struct nostop *q)
{
    struct strbuf why = STRBUF_INIT;
    uint64_t now;
    int err = 0;

    for (size_t i = 0; i < q->opt.npids && !err; i++)
        err = check(q->opt.pids[i], q->opt.caller);
    if (err)
        return err;
    control_signals_set(0);
    prctl(PR_SET_TIMERSLACK, SLACK_NS);
    q->began = q->listed = q->ticked = now = clock_ns(CLOCK_MONOTONIC);
    q->rings = switch_rings_new();
    if (list_all(q, now, &why) != 0) {
        flame_warn(
            "--no-stops: %s; until then /proc is read every %u ms: sleeps are as long as that "
            "tells, and processes that are started are not followed",
            why.buf, NOSTOP_POLL_NS / 1000000);
        switch_rings_free(q->rings);
        q->rings = NULL;
        q->counts.polled = true;
        q->tick_ns = NOSTOP_POLL_NS;
        nostop_list(q, now);
    }
    strbuf_release(&why);
    return q->threads ? 0 : attach_error_of_looking(q->opt.pids[0], ESRCH);
}

/* ---- the loop ---- */

static void wait_for_tick(const struct nostop *q)
{
    struct timespec ts = {(time_t)(q->tick_ns / 1000000000u), (long)(q->tick_ns % 1000000000u)};

    clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
}

/* Emits the unsampled sleeps so far, in case this process is killed. */
static void flush(struct nostop *q, uint64_t now)
{
    struct nostop_thread *t, *next;

    for (t = q->threads; t; t = next) {
        next = t->hh.next;
        if (t->found == NOSTOP_NOT_LOOKED && now > t->flushed + FLUSH_NS) {
            uint64_t upto = t->nap.away && t->nap.left < now ? t->nap.left : now;

            if (!nostop_read(q, t))
                nostop_ends(q, t, now); /* its exit record was lost */
            else if (upto > t->flushed)
                nostop_emit_passed(q, t, upto, &t->at);
        }
    }
}

static void tick(struct nostop *q, uint64_t now)
{
    nostop_feed(q, now);
    nostop_look_around(q, now);
    q->ticked = now;
    if (!q->rings && now - q->listed >= LIST_NS)
        nostop_list(q, now);
    if (now - q->beat >= BEAT_NS) {
        q->beat = now;
        flush(q, now);
        q->client.beat(q->client.arg, now);
    }
    control_signals_goes_on();
}

static void finish(struct nostop *q)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    nostop_feed(q, now);
    for (struct nostop_thread *t = q->threads; t; t = t->hh.next) {
        nostop_sleeps_on(q, t, now);
        if (t->found != NOSTOP_IN_CALL && t->found != NOSTOP_STOPPED) {
            struct off_sched then = nostop_reckon(t);

            nostop_emit_passed(q, t, t->flushed, nostop_read(q, t) ? &t->at : &then);
        }
    }
}

int nostop_run(struct nostop *q)
{
    q->beat = q->began;
    tick(q, q->began);
    while (q->threads && !q->over) {
        uint64_t now;

        wait_for_tick(q);
        if (control_signals_any())
            q->over = control_signals_end();
        now = clock_ns(CLOCK_MONOTONIC);
        if (q->opt.duration_ns && now - q->began >= q->opt.duration_ns)
            q->over = true;
        if (!q->over)
            tick(q, now);
    }
    finish(q);
    return 0;
}
