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
 * A call that may be half done (a write to a full pipe) is never interrupted: for those
 * only another call, or running for several looks, counts as having left.
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

#define LOOKS_RUNNING 3

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

        if (tid <= 0 || threads_find(s->threads, tid))
            continue;
        if (ptrace(PTRACE_SEIZE, tid, 0, s->ptrace_options) == 0) {
            threads_add(s->threads, tid, pid);
            n++;
            continue;
        }
        err = errno;
        /* One that has ended meanwhile, or was made by one we have and is traced by that. */
        if (err == ESRCH || (tid != pid && task_status(tid, "TracerPid") == (long)getpid()))
            continue;
        if (tid != pid && n + (int)threads_count(s->threads) > 0)
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
    t->regs = (struct walk_regs){.pc = c->pc, .sp = c->sp};
    t->have_regs = true;
    t->begun = t->unseen = t->put_off = true;
    s->put_off++;
    task_turns(t->tid, &t->turns);
    source_tell(s, &e);
}

static void first_look(struct source *s, struct thread *t)
{
    struct task_call c;

    if (!task_call(t->tid, &c) || c.where != TASK_IN_CALL) {
        stops_interrupt(s, t, false);
        return;
    }
    if (c.nr == SYS_restart_syscall) {
        restart_remember(&t->cut, restart_identity(t->tid, c.args), c.args, c.pc, c.sp);
        stops_interrupt(s, t, false);
    } else if (restart_exact(t->pid, t->tid, c.nr, c.args)) {
        stops_interrupt(s, t, false);
    } else {
        begin_asleep(s, t, &c);
    }
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
    if (!threads_count(s->threads))
        return refusal_explain(s->opt.pids[0], ESRCH);
    s->began = source_now();
    for (struct thread *t = threads_first(s->threads); t; t = t->next)
        first_look(s, t);
    return 0;
}

static bool same_call(const struct thread *t, const struct task_call *c)
{
    return c->where == TASK_IN_CALL && c->nr == t->nr && c->sp == t->regs.sp &&
           memcmp(c->args, t->args, sizeof c->args) == 0;
}

static bool has_left(struct thread *t)
{
    struct task_call c;
    uint64_t turns = t->turns;

    if (!task_turns(t->tid, &turns) || turns == t->turns)
        return false;
    if (!(call_flags(t->nr, t->args) & CALL_SHORT))
        return true;
    if (!task_call(t->tid, &c))
        return false;
    if (c.where == TASK_RUNS)
        return ++t->looks >= LOOKS_RUNNING;
    t->looks = 0;
    if (same_call(t, &c))
        return false;
    /* In another one of that kind, perhaps. */
    if (c.where == TASK_IN_CALL && call_flags(c.nr, c.args) & CALL_SHORT) {
        memcpy(t->args, c.args, sizeof t->args);
        return false;
    }
    return true;
}

void attach_look(struct source *s, uint64_t now)
{
    (void)now;
    if (!s->put_off)
        return;
    for (struct thread *t = threads_first(s->threads); t; t = t->next) {
        if (!t->put_off || t->interrupting || !has_left(t))
            continue;
        stops_interrupt(s, t, false);
        if (t->interrupting) {
            t->put_off = false;
            s->put_off--;
        }
    }
}
