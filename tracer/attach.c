/*
 * attach.c: to a running program, without its noticing.
 *
 * PTRACE_SEIZE disturbs nothing, but a thread tells of its calls only after one stop, and
 * PTRACE_INTERRUPT, which makes that stop, ends the call a thread sleeps in. What the call
 * is, /proc/TID/syscall says beforehand: where the interruption goes unnoticed or can be
 * undone exactly (restart.h), the thread is stopped at once. Elsewhere, a call with a
 * timeout say, that is put off: the thread sleeps on, and is looked at every few ms until
 * it has left the call by itself. When it is in a call again then, its timeout has only
 * just begun, and beginning it anew makes no difference that counts.
 *
 * A call that may be half done (a write to a full pipe) is never interrupted. Of a thread
 * that runs nobody can say whether it runs inside such a call, so it is looked at for a
 * while: if it is seen asleep, that decides, and if it wants a CPU all the time it does not
 * sleep in writes.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/error.h"
#include "tracer/calls.h"
#include "tracer/proctask.h"
#include "tracer/refusal.h"
#include "tracer/restart.h"
#include "tracer/source_state.h"

#define WINDOW_NS 30000000u

/* Seizes the threads not seized yet. How many, or minus an enum flame_exit after a line. */
static int seize_threads(struct source *s, pid_t pid)
{
    char path[32];
    struct dirent *d;
    int n = 0, failure = 0, err;
    DIR *dir;

    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    dir = opendir(path);
    if (!dir)
        return -refusal_explain(pid, ESRCH);
    while (!failure && (d = readdir(dir))) {
        pid_t tid = (pid_t)strtol(d->d_name, NULL, 10);

        if (tid <= 0 || traced_find(s->threads, tid))
            continue;
        if (ptrace(PTRACE_SEIZE, tid, 0, s->ptrace_options) == 0) {
            traced_add(s->threads, tid, pid);
            n++;
            continue;
        }
        err = errno;
        /* One that has ended meanwhile, or was made by one we have and is traced by that. */
        if (err == ESRCH || (tid != pid && task_status(tid, "TracerPid") == (long)getpid()))
            continue;
        if (tid != pid && n + (int)traced_count(s->threads) > 0)
            continue;
        failure = refusal_explain(tid, err);
    }
    closedir(dir);
    return failure ? -failure : n;
}

static void begin_asleep(struct source *s, struct thread *t, const struct task_call *c)
{
    struct off_event e = {.kind = OFF_THREAD_BEGIN,
                          .time = source_now(),
                          .tid = t->tid,
                          .pid = t->pid,
                          .in_call = true,
                          .nr = c->nr};

    memcpy(e.args, c->args, sizeof e.args);
    memcpy(t->args, c->args, sizeof t->args);
    t->nr = c->nr;
    t->regs = (struct user_regs_struct){.rip = c->pc, .rsp = c->sp};
    t->have_regs = true;
    t->begun = t->unseen = true;
    source_tell(s, &e);
}

/* Takes a look. True when it wanted a CPU for nearly all of the last WINDOW_NS: it does not
 * sleep in writes then. *moved: it ran since the last look. The kernel counts the time of a
 * thread that runs by its own ticks, of up to 10 ms. */
static bool busy(struct thread *t, bool *moved)
{
    uint64_t now = source_now(), turns = t->turns, ran, span;
    struct task_sched sched;

    *moved = false;
    if (!task_sched(t->tid, &sched))
        return false;
    t->turns = sched.turns;
    *moved = turns != sched.turns;
    ran = sched.cpu_ns + sched.runq_ns - t->sched.cpu_ns - t->sched.runq_ns;
    span = now - t->looked;
    if (t->looked && span < WINDOW_NS)
        return false;
    t->looked = now;
    t->sched = sched;
    return ran < span * 2 && ran * 4 >= span * 3;
}

/* Of a thread nothing is told of yet. */
static void decide(struct source *s, struct thread *t, bool is_busy, bool moved)
{
    struct task_call c;

    if (!task_call(t->tid, &c))
        return; /* ended */
    switch (c.where) {
    case TASK_RUNS:
        if (is_busy)
            stops_interrupt(s, t, false);
        return;
    case TASK_FAULTS:
        break;
    case TASK_IN_CALL:
        if (c.nr == SYS_restart_syscall) {
            restart_remember(&t->cut, restart_identity(t->tid, &c), c.args, c.pc, c.sp);
        } else if (!restart_exact(t->pid, t->tid, c.nr, c.args) &&
                   (call_flags(c.nr, c.args) & CALL_SHORT || !moved)) {
            begin_asleep(s, t, &c);
            return;
        }
    }
    stops_interrupt(s, t, false);
}

int attach_processes(struct source *s)
{
    s->ptrace_options =
        PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT;
    if (!s->opt.no_follow)
        s->ptrace_options |= PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
    for (size_t i = 0; i < s->opt.npids; i++) {
        int err = refusal_foreseen(s->opt.pids[i], s->opt.caller);

        if (err)
            return err;
    }
    for (size_t i = 0; i < s->opt.npids; i++) {
        int n;

        /* New threads appear while we look; those of seized ones are traced from birth. */
        while ((n = seize_threads(s, s->opt.pids[i])) > 0)
            ;
        if (n < 0)
            return -n;
    }
    if (!traced_count(s->threads))
        return refusal_explain(s->opt.pids[0], ESRCH);
    for (struct thread *t = traced_first(s->threads); t; t = t->next) {
        bool moved;

        t->put_off = true;
        s->put_off++;
        busy(t, &moved);
        decide(s, t, false, false);
    }
    s->began = source_now();
    return 0;
}

/* Of a thread that was told to sleep in a call: it has left that call, or may be stopped
 * in it all the same. */
static bool has_left(struct thread *t, bool is_busy, bool moved)
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
    struct thread *t;

    for (t = s->put_off ? traced_first(s->threads) : NULL; t; t = t->next) {
        bool is_busy, moved;

        if (!t->put_off)
            continue;
        is_busy = busy(t, &moved);
        if (!t->unseen)
            decide(s, t, is_busy, moved);
        else if (has_left(t, is_busy, moved))
            stops_interrupt(s, t, false);
    }
}
