/*
 * clone_exec_exit.c: clone, exec and exit events of threads.
 *
 * A child may stop before the event of its parent arrives. It stays in limbo, stopped, until that
 * event names its parent. If the parent has been killed first, stops_adopt_strays() adopts the
 * child after STRAY_NS.
 *
 * exec by a thread that is not the leader: the other threads end, the leader's event EXIT comes,
 * then EXEC under the leader's id. The id of the thread that called exec never appears again.
 */
#define _GNU_SOURCE
#include "tracer/ptrace/clone_exec_exit.h"

#include <errno.h>
#include <signal.h>
#include <linux/sched.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "tracer/ptrace/control_signals.h"
#include "tracer/offcpu/calls.h"
#include "tracer/objects/proctask.h"

#define STRAY_NS 200000000u

static unsigned long event_message(const struct ptraced *t)
{
    unsigned long message = 0;

    ptrace(PTRACE_GETEVENTMSG, t->tid, 0, &message);
    return message;
}

uint64_t clone_exec_clone_flags(pid_t tid, const struct callregs *r)
{
    const struct call *c = call_find(callregs_nr(r));
    uint64_t flags = 0;
    struct iovec here = {&flags, sizeof flags},
                 there = {(void *)callregs_argument(r, 0), sizeof flags};

    switch (c ? (enum call_child)c->child : CALL_CHILD_ANY) {
    case CALL_CHILD_CLONED:
        return callregs_argument(r, 0);
    case CALL_CHILD_VFORKED:
        return CLONE_VM | CLONE_VFORK;
    case CALL_CHILD_CLONED_AT:
        if (process_vm_readv(tid, &here, 1, &there, 1, 0) != sizeof flags)
            return 0;
        return flags;
    default:
        return 0;
    }
}

/* ---- clone ---- */

static void begin(struct source *s, struct ptraced *t, pid_t parent, uint64_t flags, uint64_t now)
{
    struct off_event e = {.kind = OFF_THREAD_BEGIN,
                          .time = now,
                          .newborn = true,
                          .parent_tid = parent,
                          .args = {flags}};

    t->begun = true;
    source_emit(s, t, &e);
}

static void leave_limbo(struct source *s, struct ptraced *t, uint64_t now)
{
    struct standing who = {t->tid, t->birth_status, t->birth_ns, t->birth_ns};

    t->limbo = false;
    s->limbo--;
    s->stops--; /* counted when it stopped */
    stops_handle(s, &who, now);
}

static void on_birth(struct source *s, struct ptraced *parent, uint64_t now)
{
    pid_t tid = (pid_t)event_message(parent);
    struct ptraced *t = ptraced_find(s->threads, tid);
    uint64_t flags = 0;

    if (stops_regs(parent)) {
        callregs_enter(&parent->regs);
        flags = clone_exec_clone_flags(parent->tid, &parent->regs);
    }
    if (t && !t->limbo) /* cannot happen: an id is used once at a time */
        return;
    if (!t)
        t = ptraced_add(s->threads, tid, tid);
    t->pid = flags & CLONE_THREAD ? parent->pid : tid;
    t->foreign = parent->foreign;
    if (s->client.born && !s->silent)
        s->client.born(s->client.arg, parent->tid, tid, flags);
    t->muted = parent->muted || s->emitting_ends || (s->opt.no_follow && t->pid != parent->pid);
    begin(s, t, parent->tid, flags, t->limbo ? t->birth_ns : now);
    if (t->limbo)
        leave_limbo(s, t, now);
}

void clone_exec_stranger(struct source *s, struct ptraced *t, const struct standing *who)
{
    if (!t) {
        if (!WIFSTOPPED(who->status))
            return;
        t = ptraced_add(s->threads, who->tid, 0);
        t->limbo = true;
        s->limbo++;
        t->birth_ns = who->since;
    }
    t->birth_status = who->status;
}

void stops_adopt_strays(struct source *s, uint64_t now)
{
    struct ptraced *t, *next;

    if (!s->limbo)
        return;
    for (t = ptraced_first(s->threads); t; t = next) {
        long pid;

        next = t->next;
        if (!t->limbo || now - t->birth_ns < STRAY_NS)
            continue;
        pid = task_status(t->tid, "Tgid");
        t->pid = pid > 0 ? (pid_t)pid : t->tid;
        begin(s, t, 0, t->pid != t->tid ? CLONE_THREAD | CLONE_VM : 0, t->birth_ns);
        leave_limbo(s, t, now);
        /* Its end may have ended other threads with it. */
        next = ptraced_first(s->threads);
    }
}

/* ---- exit ---- */

void clone_exec_forget(struct source *s, struct ptraced *t)
{
    if (t->interrupting)
        s->interrupts--;
    stops_not_put_off(s, t);
    if (s->client.gone && !s->silent)
        s->client.gone(s->client.arg, t->tid);
    ptraced_remove(s->threads, t);
}

void clone_exec_end(struct source *s, struct ptraced *t, int status, uint64_t now)
{
    struct off_event e = {.kind = OFF_THREAD_END, .time = now, .result = status};

    t->at_stop = false;
    source_emit(s, t, &e);
    if (t->tid == s->command) {
        if (!s->running)
            spawn_failed(s);
        control_signals_command(0);
        s->ended = true;
        s->wait_status = status;
    }
    clone_exec_forget(s, t);
}

/* ---- exec ---- */

static void emit_end(struct source *s, struct ptraced *t, uint64_t now)
{
    struct off_event e = {.kind = OFF_THREAD_END, .time = now};

    source_emit(s, t, &e);
    clone_exec_forget(s, t);
}

/* Moves the state of the thread that called exec to the leader, and ends the other threads. Returns
 * the caller of exec, or NULL when it was the leader. */
static struct ptraced *take_over(struct source *s, struct ptraced *leader, pid_t was, uint64_t now)
{
    struct ptraced *caller = was != leader->tid ? ptraced_find(s->threads, was) : NULL, *next;

    if (caller) {
        leader->begun = caller->begun;
        leader->muted = caller->muted;
    }
    for (struct ptraced *t = ptraced_first(s->threads); t; t = next) {
        next = t->next;
        if (t != leader && t != caller && t->pid == leader->pid && !t->limbo)
            emit_end(s, t, now);
    }
    leader->reported = leader->maps = leader->stopped = false;
    leader->cut.is = false;
    leader->retry = (struct retry){0};
    return caller;
}

static void on_exec(struct source *s, struct ptraced *t, uint64_t now)
{
    struct off_event e = {.kind = OFF_EXEC, .time = now};
    struct ptraced *caller = take_over(s, t, (pid_t)event_message(t), now);

    e.parent_tid = caller ? caller->tid : 0;
    if (t->tid == s->command && !s->running) {
        s->failed = spawn_check_exec(s);
        if (s->failed) {
            kill(t->tid, SIGKILL);
            return;
        }
        s->running = true;
        s->began = now;
        t->begun = true;
        e.kind = OFF_THREAD_BEGIN;
    } else {
        spawn_warn_setid(s, t->pid);
        t->foreign = stops_regs(t) && callregs_is_foreign(&t->regs);
        if (t->foreign)
            spawn_warn_32bit(s, t->pid);
    }
    source_emit(s, t, &e);
    if (s->client.gone && !s->silent)
        s->client.gone(s->client.arg, t->tid);
    if (caller)
        emit_end(s, caller, now);
    if (s->client.executed)
        s->client.executed(s->client.arg, t->tid);
    stops_resume(s, t, 0);
}

void clone_exec_event(struct source *s, struct ptraced *t, int event, uint64_t now)
{
    struct off_event e = {.time = now};

    /* All of these stops but EXIT lie inside a call. */
    t->in_call |= !s->filtered;
    switch (event) {
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
    case PTRACE_EVENT_CLONE:
        on_birth(s, t, now);
        break;
    case PTRACE_EVENT_VFORK_DONE:
        if (s->client.born && !s->silent)
            s->client.born(s->client.arg, t->tid, 0, 0);
        break;
    case PTRACE_EVENT_EXEC:
        on_exec(s, t, now);
        return;
    case PTRACE_EVENT_EXIT:
        e.kind = OFF_EXITING;
        e.result = (int64_t)event_message(t);
        source_emit(s, t, &e);
        break;
    }
    stops_resume(s, t, 0);
}
