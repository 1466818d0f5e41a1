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

struct quiet *quiet_new(const struct quiet_options *o, const struct quiet_client *c)
{
    struct quiet *q = xcalloc(1, sizeof *q);

    q->opt = *o;
    q->client = *c;
    if (q->opt.least_ns < QUIET_LEAST_NS)
        q->opt.least_ns = QUIET_LEAST_NS;
    q->tick_ns = q->opt.least_ns / 4 * 3;
    if (q->tick_ns > TICK_MOST_NS)
        q->tick_ns = TICK_MOST_NS;
    return q;
}

/* ---- events ---- */

void quiet_tell(struct quiet *q, struct quiet_thread *t, struct off_event *e,
                const struct off_sched *at)
{
    e->tid = t->tid;
    e->pid = t->pid;
    q->telling = t->tid;
    q->figures = *at;
    q->client.event(q->client.arg, e);
    q->telling = 0;
}

void quiet_tell_passed(struct quiet *q, struct quiet_thread *t, uint64_t time,
                       const struct off_sched *at)
{
    struct off_event e = {.kind = OFF_UNLOOKED, .time = time, .unlooked = &t->passed};

    t->flushed = time;
    quiet_tell(q, t, &e, at);
    t->passed = (struct off_unlooked){.brief = {0, 0, 0}};
}

bool quiet_read(struct quiet *q, struct quiet_thread *t)
{
    struct off_sched now;

    if (!q->client.sched(q->client.arg, t->tid, &now))
        return false;
    t->at = now;
    t->ran_at = t->nap.ran_ns;
    t->wait_at = t->nap.wait_ns;
    return true;
}

struct off_sched quiet_reckon(const struct quiet_thread *t)
{
    struct off_sched s = t->at;

    s.cpu_ns += t->nap.ran_ns - t->ran_at;
    s.runq_ns += t->nap.wait_ns - t->wait_at;
    return s;
}

bool quiet_sched(struct quiet *q, pid_t tid, struct off_sched *out)
{
    bool known = true;

    if (q->telling == tid)
        *out = q->figures;
    else
        known = q->client.sched(q->client.arg, tid, out);
    out->turns = 0;
    return known;
}

struct quiet_counts quiet_counts(const struct quiet *q)
{
    return q->counts;
}

/* ---- threads ---- */

struct quiet_thread *quiet_find(struct quiet *q, pid_t tid)
{
    struct quiet_thread *t;

    HASH_FIND_INT(q->threads, &tid, t);
    return t;
}

bool quiet_watches(const struct quiet *q, pid_t pid)
{
    for (const struct quiet_thread *t = q->threads; t; t = t->hh.next)
        if (t->pid == pid)
            return true;
    return false;
}

bool quiet_left(const struct quiet *q)
{
    return q->threads != NULL;
}

struct quiet_thread *quiet_add(struct quiet *q, pid_t tid, pid_t pid, uint64_t time, pid_t parent)
{
    struct off_event e = {
        .kind = OFF_THREAD_BEGIN, .time = time, .newborn = parent != 0, .parent_tid = parent};
    struct quiet_thread *t = quiet_find(q, tid);
    const struct quiet_thread *maker = parent ? quiet_find(q, parent) : NULL;
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
    quiet_tell(q, t, &e, &t->at);
    if (!parent) {
        quiet_read(q, t);
        t->from_begin = task_call(tid, &call) && call.where != TASK_RUNS;
        nap_found(&t->nap, time, t->from_begin);
        t->before = t->at;
    }
    return t;
}

void quiet_ends(struct quiet *q, struct quiet_thread *t, uint64_t time)
{
    struct off_event e = {.kind = OFF_THREAD_END, .time = time};
    struct off_sched last = quiet_reckon(t);

    quiet_sleeps_on(q, t, time);
    quiet_tell_passed(q, t, time, &last);
    quiet_tell(q, t, &e, &last);
    if (q->next == t)
        q->next = NULL;
    HASH_DEL(q->threads, t);
    free(t);
}

/* Watches and adds the threads of a process that are not known yet. 0; or -errno with *why, if the
 * kernel refuses records of them. *more is set if there were any. */
static int list_process(struct quiet *q, pid_t pid, uint64_t time, bool *more, struct strbuf *why)
{
    DIR *dir = opendir(proc_path(pid, "task").s);
    int err = 0;

    for (struct dirent *d; dir && !err && (d = readdir(dir));) {
        pid_t tid = (pid_t)strtol(d->d_name, NULL, 10);

        if (tid <= 0 || quiet_find(q, tid))
            continue;
        if (q->rings)
            err = switch_rings_add(q->rings, tid, why);
        if (!err) {
            quiet_add(q, tid, pid, time, 0);
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
static int list_all(struct quiet *q, uint64_t time, struct strbuf *why)
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

void quiet_list(struct quiet *q, uint64_t now)
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
    int err = refusal_foreseen(pid, caller);

    if (err)
        return err;
    /* Nothing is read: this tests whether the call exists and no filter forbids it. */
    if (process_vm_readv(pid, &ours, 1, &theirs, 1, 0) < 0)
        return refusal_of_looking(pid, errno);
    errno = EPERM;
    return task_call(pid, &call) ? 0 : refusal_of_looking(pid, errno);
}

int quiet_start(struct quiet *q)
{
    struct strbuf why = STRBUF_INIT;
    uint64_t now;
    int err = 0;

    for (size_t i = 0; i < q->opt.npids && !err; i++)
        err = check(q->opt.pids[i], q->opt.caller);
    if (err)
        return err;
    alarms_set(0);
    prctl(PR_SET_TIMERSLACK, SLACK_NS);
    q->began = q->listed = q->ticked = now = clock_ns(CLOCK_MONOTONIC);
    q->rings = switch_rings_new();
    if (list_all(q, now, &why) != 0) {
        flame_warn(
            "--no-stops: %s; until then /proc is read every %u ms: sleeps are as long as that "
            "tells, and processes that are started are not followed",
            why.buf, QUIET_POLL_NS / 1000000);
        switch_rings_free(q->rings);
        q->rings = NULL;
        q->counts.polled = true;
        q->tick_ns = QUIET_POLL_NS;
        quiet_list(q, now);
    }
    strbuf_release(&why);
    return q->threads ? 0 : refusal_of_looking(q->opt.pids[0], ESRCH);
}

/* ---- the loop ---- */

static void wait_for_tick(const struct quiet *q)
{
    struct timespec ts = {(time_t)(q->tick_ns / 1000000000u), (long)(q->tick_ns % 1000000000u)};

    clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
}

/* Emits the unsampled sleeps so far, in case this process is killed. */
static void flush(struct quiet *q, uint64_t now)
{
    struct quiet_thread *t, *next;

    for (t = q->threads; t; t = next) {
        next = t->hh.next;
        if (t->found == QUIET_NOT_LOOKED && now > t->flushed + FLUSH_NS) {
            uint64_t upto = t->nap.away && t->nap.left < now ? t->nap.left : now;

            if (!quiet_read(q, t))
                quiet_ends(q, t, now); /* its exit record was lost */
            else if (upto > t->flushed)
                quiet_tell_passed(q, t, upto, &t->at);
        }
    }
}

static void tick(struct quiet *q, uint64_t now)
{
    quiet_feed(q, now);
    quiet_look_around(q, now);
    q->ticked = now;
    if (!q->rings && now - q->listed >= LIST_NS)
        quiet_list(q, now);
    if (now - q->beat >= BEAT_NS) {
        q->beat = now;
        flush(q, now);
        q->client.beat(q->client.arg, now);
    }
    alarms_goes_on();
}

static void finish(struct quiet *q)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    quiet_feed(q, now);
    for (struct quiet_thread *t = q->threads; t; t = t->hh.next) {
        quiet_sleeps_on(q, t, now);
        if (t->found != QUIET_IN_CALL && t->found != QUIET_STOPPED) {
            struct off_sched then = quiet_reckon(t);

            quiet_tell_passed(q, t, t->flushed, quiet_read(q, t) ? &t->at : &then);
        }
    }
}

int quiet_run(struct quiet *q)
{
    q->beat = q->began;
    tick(q, q->began);
    while (q->threads && !q->over) {
        uint64_t now;

        wait_for_tick(q);
        if (alarms_any())
            q->over = alarms_end();
        now = clock_ns(CLOCK_MONOTONIC);
        if (q->opt.duration_ns && now - q->began >= q->opt.duration_ns)
            q->over = true;
        if (!q->over)
            tick(q, now);
    }
    finish(q);
    return 0;
}
