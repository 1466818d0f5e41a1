/*
 * thread_kill.c: the cause of a thread's end, which also ends the call that the thread is in.
 *
 * A thread that another one ends is woken, finds that it must die, and ends with the status of its
 * process. The cause is one of three things, which happened before, and which the tracer has seen:
 *
 *   exec by another thread   its call is unfinished: that thread has done nothing since. The status
 *                            is 0, before Linux 5.17 that of SIGKILL
 *   exit_group               its call is seen before the kernel does it. The status is its argument
 *   a signal                 was sent by a call, or was delivered to one of the threads: all but
 *                            SIGKILL stop there, and have their sender
 */
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tracer/offcpu/calls.h"
#include "tracer/offcpu/wake_call.h"

/* Time for which a sent signal may explain an end. An end takes as long as there is memory to free,
 * and a process's number may be used again. */
#define KILL_FRESH_NS 10000000000ull

static struct wake *wake_of(struct offcpu *o, struct sleeper *t, uint64_t now, bool with_stack)
{
    struct off_waker who = {.tid = t->tid};

    if (with_stack)
        who.stack = o->world.stack(o->world.arg, t->tid);
    return wake_new(&who, t->pid, now, &t->past, o->opt.chain_depth);
}

void killing_call(struct offcpu *o, struct sleeper *t, const struct off_event *e)
{
    struct sleeper_process *p = t->process;
    bool execs = call_flags(e->nr, e->args) & CALL_EXEC;

    if (p->exec.tid == t->tid) { /* exec failed, as its thread makes another call */
        wake_unref(p->exec.by);
        p->exec.by = NULL;
        p->exec.tid = 0;
    }
    if (!p->in_calls || (!execs && e->nr != SYS_exit_group))
        return;
    if (execs) {
        p->exec.tid = t->tid;
        p->exec.by = wake_of(o, t, e->time, true);
    } else if (!p->ending) {
        p->ending = wake_of(o, t, e->time, true);
    }
}

void killing_signal(struct sleeper *t, const struct off_event *e)
{
    t->process->signal = (struct delivered){e->nr, e->code, e->sender, t->tid};
}

void killing_done(struct sleeper_process *p)
{
    wake_unref(p->ending);
    wake_unref(p->exec.by);
    p->ending = p->exec.by = NULL;
    p->exec.tid = 0;
}

/* Whether the thread itself caused the signal, by a fault. */
static bool is_own_fault(const struct delivered *d)
{
    switch (d->signal) {
    case SIGSEGV:
    case SIGBUS:
    case SIGILL:
    case SIGFPE:
    case SIGTRAP:
    case SIGSYS:
        return d->code > 0;
    default:
        return false;
    }
}

static struct wake *latest_sent(const struct offcpu *o, pid_t pid, int signal, uint64_t from,
                                uint64_t to)
{
    size_t n = o->nsent < SENT_SIGNALS_KEPT ? o->nsent : SENT_SIGNALS_KEPT;

    for (size_t i = 1; i <= n; i++) {
        const struct sent_signal *s = &o->sent[(o->nsent - i) % SENT_SIGNALS_KEPT];

        if (s->signal == signal && (s->pid <= 0 || s->pid == pid) && s->wake->time >= from &&
            s->wake->time <= to)
            return s->wake;
    }
    return NULL;
}

/* The wake of the thread whose fault, or whose call since `from`, sent the signal that ends the
 * process. NULL: none, or it is not traced. */
static struct wake *sender_of(struct offcpu *o, const struct sleeper *t, int signal, uint64_t from,
                              uint64_t now)
{
    const struct delivered *d = &t->process->signal;
    struct wake *w;

    if (d->signal == signal && is_own_fault(d)) {
        struct sleeper *guilty = machine_sleeper(o, d->tid);

        if (t->process->ending && t->process->ending->links[0].who.tid == d->tid)
            return wake_ref(t->process->ending);
        return guilty && guilty != t ? wake_of(o, guilty, now, false) : NULL;
    }
    if (d->signal == signal && d->code > 0) /* the kernel's own: timers, terminals */
        return NULL;
    w = latest_sent(o, t->pid, signal, from, now);
    return wake_ref(w);
}

struct wake *killer_asleep(struct offcpu *o, struct sleeper *t, int status, uint64_t now)
{
    struct sleeper_process *p = t->process;
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    struct wake *w = NULL;

    if (signal) {
        w = sender_of(o, t, signal, t->s.begin, now);
        if (!w && p->signal.signal == signal) {
            t->signal = signal;
            t->code = p->signal.code;
            t->sender = p->signal.sender;
        }
    }
    if (!w && p->exec.by && p->exec.tid != t->tid && (!signal || signal == SIGKILL))
        return wake_ref(p->exec.by);
    if (!w && !signal && p->ending && p->ending->links[0].who.tid != t->tid)
        return wake_ref(p->ending);
    return w;
}

struct wake *killer_awake(struct offcpu *o, struct sleeper *t, int status, uint64_t now)
{
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    struct wake *w;

    if (!signal)
        return NULL;
    w = sender_of(o, t, signal, now > KILL_FRESH_NS ? now - KILL_FRESH_NS : 0, now);
    if (w && w->pid == t->pid) { /* the process ended itself */
        wake_unref(w);
        return NULL;
    }
    return w;
}
