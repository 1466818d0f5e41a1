/*
 * stops.c: turns a stop into events and resumes the thread.
 *
 * With a filter the seccomp stop is the entry. The exit stop (PTRACE_SYSCALL) is requested only in
 * a call that may sleep. Without one all calls stop twice, and entry and exit alternate; the first
 * stop after a clone, an attach or a restart is an entry.
 *
 * PTRACE_INTERRUPT is sent only to threads that run. An interruption that reaches a sleeping call
 * before it takes effect would cut that call short. So such an entry is taken back
 * (callregs_rewind) and made again.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "tracer/ptrace/retry.h"
#include "inproc/syscall_mark.h"
#include "tracer/offcpu/calls.h"
#include "tracer/ptrace/clone_exec_exit.h"
#include "tracer/objects/proctask.h"
#include "tracer/ptrace/restart.h"
#include "tracer/ptrace/source_state.h"

#define SYSCALL_STOP (SIGTRAP | 0x80) /* PTRACE_O_TRACESYSGOOD */

bool stops_regs(struct ptraced *t)
{
    t->have_regs = callregs_read(t->tid, &t->regs);
    return t->have_regs;
}

void stops_let_go(struct ptraced *t)
{
    uint64_t now = source_now();

    t->let_go = now;
    t->at_stop = t->seen.is = false;
    t->held.ns += now > t->stood_since ? now - t->stood_since : 0;
    t->held.times++;
    if (now > t->stop_began && now - t->stop_began > t->held.longest_ns)
        t->held.longest_ns = now - t->stop_began;
}

/* Resumes a stopped thread. ESRCH from ptrace: the thread was killed meanwhile; its end will be
 * reported. */
void stops_resume(struct source *s, struct ptraced *t, int sig)
{
    bool exit_wanted = (t->in_call || !s->filtered) && !t->end_emitted;

    if (unlikely(t->departing)) {
        leave_at_stop(s, t, sig);
        return;
    }
    stops_let_go(t);
    t->watched = exit_wanted;
    ptrace(exit_wanted ? PTRACE_SYSCALL : PTRACE_CONT, t->tid, 0, sig);
}

void stops_not_put_off(struct source *s, struct ptraced *t)
{
    if (!t->put_off)
        return;
    t->put_off = false;
    s->put_off--;
    s->unseen -= t->unseen;
}

void stops_interrupt(struct source *s, struct ptraced *t, bool sample)
{
    if (t->interrupting || ptrace(PTRACE_INTERRUPT, t->tid, 0, 0) < 0)
        return;
    stops_not_put_off(s, t);
    t->interrupting = true;
    t->loose = false;
    t->sampling = sample;
    s->interrupts++;
}

/* ---- calls ---- */

/* Reads the registers at a stop that is not a call's, and finds the call that the stop cut short,
 * if any. */
static bool regs_between_calls(struct ptraced *t)
{
    if (!stops_regs(t))
        return false;
    if (!t->retry.pc)
        callregs_find_call(&t->regs, t->seen.is ? &t->seen : &t->cut, t->seen.is);
    return true;
}

static bool regs_at_exit(struct ptraced *t)
{
    if (!stops_regs(t))
        return false;
    callregs_leave(&t->regs, t->args[0]);
    return true;
}

/* Clears CLONE_UNTRACED: a process made with this flag would have the filter and no tracer. This is
 * done for clone alone: clone3 has its flags in memory, which a filter cannot read, nor may a
 * tracer change it. */
static void keep_children_traced(struct source *s, struct ptraced *t)
{
    struct callregs *r = &t->regs;
    uint64_t flags = callregs_argument(r, 0);

    if (!s->filtered || callregs_nr(r) != SYS_clone || !(flags & CLONE_UNTRACED))
        return;
    callregs_set_argument(r, 0, flags & ~(uint64_t)CLONE_UNTRACED);
    callregs_write(t->tid, r);
}

/* Flags of an entry that must be emitted; 0: it is not emitted. */
static unsigned entry_flags(struct source *s, struct ptraced *t)
{
    struct callregs *r = &t->regs;
    unsigned flags;

    if (callregs_is_foreign(r))
        return 0;
    keep_children_traced(s, t);
    t->nr = callregs_nr(r);
    callregs_arguments(r, t->args);
    flags = call_flags(t->nr, t->args);
    if (call_makes_child(call_find(t->nr)) && !(clone_exec_clone_flags(t->tid, r) & CLONE_VFORK))
        flags = 0;
    return flags;
}

static void on_entry(struct source *s, struct ptraced *t, bool filtered, uint64_t now)
{
    struct off_event e = {.kind = OFF_ENTRY, .time = now};
    struct callregs *r = &t->regs;
    unsigned flags;
    bool goes_on;

    if (!stops_regs(t))
        return;
    if (unlikely(!callregs_is_entry(r, filtered))) { /* an exit whose entry was not seen */
        stops_resume(s, t, 0);
        return;
    }
    callregs_enter(r);
    flags = entry_flags(s, t);
    if (unlikely(t->loose) && (flags & CALL_SLEEPS || callregs_is_foreign(r)) &&
        callregs_rewind(t->tid, r) == 0) {
        t->loose = t->reported = false;
        t->in_call = !filtered;
        stops_resume(s, t, 0);
        return;
    }
    goes_on = retry_entered(t, now);
    t->halted = false;
    t->reported = flags && t->begun && !t->muted && !s->silent;
    t->maps = t->reported && flags & CALL_MAPS;
    t->mended = CALLREGS_FORGETS && !t->reported && flags & CALL_EINTR;
    t->in_call = !filtered || t->retry.nregs || t->mended ||
                 (t->reported && flags & (CALL_SLEEPS | CALL_MAPS));
    if (t->reported && !t->maps) {
        e.restarted = restart_matches(&t->cut, r, &t->nr, t->args);
        t->cut.is = false;
        e.nr = t->nr;
        memcpy(e.args, t->args, sizeof e.args);
        e.cannot_block = !(flags & CALL_SLEEPS);
        if (e.cannot_block)
            t->reported = false;
        source_emit(s, t, &e);
    }
    stops_resume(s, t, 0);
    /* The thread may sleep from now on; this process may have waited for a CPU since `now`. */
    if (!goes_on)
        t->entered = t->let_go;
}

/*
 * Time that the call that ends here has used up. It is counted by the clock, from a moment at which
 * the program was in the call already. So the rest never ends before the program's timeout.
 * Rejected: subtracting the thread's CPU time and run-queue wait. On a loaded machine a call of 300
 * ms that was cut short every 20 ms took 3 s that way.
 */
static uint64_t spent(const struct ptraced *t, uint64_t now)
{
    return t->entered ? now - t->entered : 0;
}

static enum retry_how how_again(const struct source *s, const struct ptraced *t)
{
    if (s->silent || !t->begun || t->muted)
        return RETRY_AS_IT_WAS;
    return s->ptrace_options & PTRACE_O_EXITKILL ? RETRY_ALL : RETRY_LESS_TIME;
}

static bool is_short(const struct ptraced *t, uint64_t wrote)
{
    const struct call *c = call_find(t->nr);

    return c && c->flags & CALL_RESUMES && wrote < t->args[2];
}

/* Takes back a call that ends here, if it must be made again. False: the call has ended. */
static bool taken_back(struct source *s, struct ptraced *t, uint64_t now)
{
    if (retry_take_back(t, now, spent(t, now), how_again(s, t)))
        return true;
    if (t->retry.nregs)
        retry_over(t);
    return false;
}

static void on_exit_stop(struct source *s, struct ptraced *t, uint64_t now)
{
    struct off_event e = {.kind = OFF_EXIT, .time = now, .nr = t->nr};
    bool again = false;
    int64_t result;

    t->in_call = false;
    if (t->reported) {
        if (!callregs_result_now(t->tid, &result))
            return;
        if (unlikely(result == -EINTR || t->retry.nregs ||
                     (result > 0 && is_short(t, (uint64_t)result))) &&
            regs_at_exit(t)) {
            again = taken_back(s, t, now);
            result = again ? -ERESTARTNOHAND : callregs_result(&t->regs);
        }
        if (unlikely(restart_pending(result)))
            restart_remember(&t->cut, t->nr, t->args,
                             again ? t->retry.pc : callregs_return(&t->regs),
                             callregs_sp(&t->regs));
        e.result = result;
        if (t->maps) {
            e.kind = OFF_ENTRY;
            e.cannot_block = true;
            memcpy(e.args, t->args, sizeof e.args);
        }
        t->may_go = true;
        source_emit(s, t, &e);
        t->reported = t->maps = t->may_go = false;
    } else if (t->mended && callregs_result_now(t->tid, &result) && result == -EINTR &&
               regs_at_exit(t)) {
        again = taken_back(s, t, now);
    }
    t->mended = false;
    if (unlikely(!t->at_stop)) /* resumed by source_resume */
        return;
    if (unlikely(t->retry.nregs) && !again && regs_at_exit(t))
        retry_over(t);
    stops_resume(s, t, 0);
}

/* Handles a PTRACE_SYSCALL stop. Without a filter entry and exit alternate. */
static void on_call_stop(struct source *s, struct ptraced *t, uint64_t now)
{
    if (s->filtered || t->in_call)
        on_exit_stop(s, t, now);
    else
        on_entry(s, t, false, now);
}

/* ---- first contact with a thread attached to ---- */

/* Emits the exit of a call that the thread slept in when it was attached to, and has left
 * unseen. */
static void emit_unseen_exit(struct source *s, struct ptraced *t, uint64_t now)
{
    struct off_event e = {.kind = OFF_EXIT, .time = now, .nr = t->nr};

    t->unseen = false;
    source_emit(s, t, &e);
}

/* Emits the call that the thread's first stop interrupted, if any, by its registers and `cut`. */
static void emit_found(struct source *s, struct ptraced *t, uint64_t now)
{
    const struct callregs *r = &t->regs;
    struct off_event e = {
        .kind = OFF_ENTRY, .time = t->asleep ? t->asleep : now, .attached_in_call = true};

    if (!t->retry.pc) {
        if (callregs_nr(r) < 0 || !restart_pending(callregs_result(r)) || callregs_is_foreign(r))
            return;
        if (!t->cut.is || t->cut.sp != callregs_sp(r)) {
            uint64_t args[6];

            callregs_arguments(r, args);
            restart_remember(&t->cut, callregs_nr(r), args, callregs_return(r), callregs_sp(r));
        }
        t->cut.pc = callregs_return(r);
    }
    e.nr = t->nr = t->cut.nr;
    memcpy(e.args, t->cut.args, sizeof e.args);
    memcpy(t->args, t->cut.args, sizeof t->args);
    source_emit(s, t, &e);
}

/*
 * Drops the start of a timeout, at the first stop of a thread that was seen asleep in a call with
 * one. If the thread has run more than once to get to this stop, it may have begun another call a
 * moment ago. The start of that call's sleep is not known. The stop may come from the interruption
 * or from a signal.
 */
static void forget_if_it_ran(struct ptraced *t)
{
    struct off_sched sched;

    if (!t->timed || !task_sched(t->tid, &sched) || sched.turns > t->turns + 1)
        t->entered = 0;
}

static void first_contact(struct source *s, struct ptraced *t, uint64_t now)
{
    t->fresh = false;
    stops_not_put_off(s, t);
    if (t->unseen)
        emit_unseen_exit(s, t, now);
    else if (t->have_regs || regs_between_calls(t))
        emit_found(s, t, now);
}

/* ---- interruptions, job control, signals ---- */

/*
 * Bookkeeping of a sent interruption. Its own stop may never come, because any other stop that the
 * thread enters takes its place. Calls are cut short nevertheless, until the thread has returned to
 * user mode once more.
 */
static void interruption_arrived(struct source *s, struct ptraced *t)
{
    t->interrupting = false;
    t->loose = true;
    s->interrupts--;
}

/* Whether the filter allows the thread's present or last call without a stop. */
static bool is_let_by(const struct source *s, const struct ptraced *t)
{
    const struct callregs *r = &t->regs;
    uintptr_t pc = callregs_pc(r);

    return s->opt.lets_by && (pc == s->opt.lets_by ||
                              syscall_mark_is_on(s->opt.lets_marked, pc, callregs_nr(r),
                                                 callregs_argument(r, 0), callregs_argument(r, 5)));
}

/* Undoes the interruption of a call that would have continued. */
static void undo_interruption(struct ptraced *t, uint64_t now)
{
    uint64_t args[6];
    bool timed = t->timed;

    t->timed = false;
    callregs_arguments(&t->regs, args);
    if ((timed && retry_sooner(t, now, spent(t, now))) || (CALLREGS_FORGETS && retry_cut_short(t)))
        restart_remember(&t->cut, t->retry.nr, args, t->retry.pc, callregs_sp(&t->regs));
    else
        restart_undo_eintr(t->tid, &t->regs);
}

static void on_event_stop(struct source *s, struct ptraced *t, int sig, uint64_t now)
{
    struct off_event e = {.time = now};
    bool sample = t->sampling;

    if (!regs_between_calls(t))
        return;
    if (t->loose && !is_let_by(s, t))
        undo_interruption(t, now);
    t->loose = t->sampling = false;
    if (unlikely(t->fresh)) {
        if (sig == SIGTRAP && !t->stopped) { /* the event needs the registers only */
            stops_resume(s, t, 0);
            first_contact(s, t, now);
            return;
        }
        first_contact(s, t, now);
    }
    if (sig != SIGTRAP) {
        if (!t->stopped) {
            t->stopped = t->halted = true;
            if (t->retry.pc)
                retry_not(t);
            if (s->client.handled)
                s->client.handled(s->client.arg, t->tid, now);
            e.kind = OFF_STOPPED;
            e.nr = sig;
            source_emit(s, t, &e);
        }
        stops_let_go(t);
        ptrace(PTRACE_LISTEN, t->tid, 0, 0);
        return;
    }
    if (t->stopped) {
        t->stopped = false;
        e.kind = OFF_CONTINUED;
        source_emit(s, t, &e);
    } else if (sample && !restart_pending(callregs_result(&t->regs))) {
        e.kind = OFF_SAMPLE;
        source_emit(s, t, &e);
    }
    stops_resume(s, t, 0);
}

/* Reports a handled signal to the client. Threads under libflamewait.so repair their own calls that
 * were cut short, and need to know whether the program expects the interruption. */
static void emit_handled(struct source *s, struct ptraced *t, int sig, uint64_t now)
{
    if (s->client.handled && !task_ignores(t->tid, sig))
        s->client.handled(s->client.arg, t->tid, now);
}

/* Decides the result of a call that was cut short. A cut by a job control stop stays visible to the
 * program. */
static void settle_call(struct source *s, struct ptraced *t, int sig, uint64_t now)
{
    const struct callregs *r = &t->regs;
    bool ignored;

    /* A call that the filter allows without a stop is repaired by its own thread. */
    if (!regs_between_calls(t) || callregs_is_foreign(r) || is_let_by(s, t) ||
        (!t->retry.pc && (callregs_result(r) != -EINTR || callregs_nr(r) < 0)))
        return;
    ignored = task_ignores(t->tid, sig);
    if (t->retry.pc && !ignored)
        retry_not(t);
    else if (!t->retry.pc && ignored && !t->halted)
        retry_take_back(t, now, spent(t, now), how_again(s, t));
}

/*
 * Whether the signal of this fault would come again for ever. The kernel lets no signal end the
 * first process of a pid namespace. If that process is traced, this includes the signal of its own
 * fault: the signal is dropped, and the fault repeats. Untraced, the process would have ended by
 * that signal.
 */
static bool comes_for_ever(const struct ptraced *t, const siginfo_t *info)
{
    switch (info->si_signo) {
    case SIGSEGV:
    case SIGBUS:
    case SIGILL:
    case SIGFPE:
    case SIGTRAP:
    case SIGSYS:
        return info->si_code > 0 && !task_catches(t->tid, info->si_signo) && task_is_first(t->tid);
    default:
        return false;
    }
}

/* Detaches a thread, which then repeats its fault untraced. Its other threads end with it. */
static void let_fall(struct source *s, struct ptraced *t, int sig, uint64_t now)
{
    struct off_event e = {.kind = OFF_EXITING, .time = now, .result = sig};

    source_emit(s, t, &e);
    e = (struct off_event){.kind = OFF_THREAD_END, .time = now, .result = sig};
    source_emit(s, t, &e);
    ptrace(PTRACE_DETACH, t->tid, 0, sig);
    clone_exec_forget(s, t);
}

static void on_signal(struct source *s, struct ptraced *t, int sig, uint64_t now)
{
    struct off_event e = {.kind = OFF_SIGNAL, .time = now, .nr = sig};
    siginfo_t info;

    t->have_regs = false;
    if (unlikely(t->fresh))
        first_contact(s, t, now);
    if (unlikely(retry_drops(t, sig))) {
        stops_resume(s, t, 0);
        return;
    }
    if (ptrace(PTRACE_GETSIGINFO, t->tid, 0, &info) == 0) {
        e.code = info.si_code;
        if (info.si_code == SI_USER || info.si_code == SI_TKILL || info.si_code == SI_QUEUE ||
            (sig == SIGCHLD && info.si_code > 0))
            e.sender = info.si_pid;
        if (unlikely(comes_for_ever(t, &info))) {
            let_fall(s, t, sig, now);
            return;
        }
    }
    settle_call(s, t, sig, now);
    emit_handled(s, t, sig, now);
    /* Needed only then: it decides whether the call that was cut short continues. */
    e.caught = t->cut.is && task_catches(t->tid, sig);
    source_emit(s, t, &e);
    stops_resume(s, t, sig);
}

/* ---- */

static void on_stop(struct source *s, struct ptraced *t, const struct standing *who, uint64_t now)
{
    int sig = WSTOPSIG(who->status), event = who->status >> 16;

    t->at_stop = true;
    t->clean = event == PTRACE_EVENT_STOP ||
               (event == 0 && (sig != SYSCALL_STOP || s->filtered || t->in_call));
    /* The start of the stop is an estimate, but not before the thread was last resumed. */
    t->stop_began = t->stood_since = who->since > t->let_go ? who->since : t->let_go;
    t->held_more_ns += t->stood_since - (who->earliest > t->let_go ? who->earliest : t->let_go);
    if (unlikely(t->interrupting))
        interruption_arrived(s, t);
    if (unlikely(t->fresh)) {
        attach_on_first_stop(s, t);
        forget_if_it_ran(t);
    }
    switch (event) {
    case 0:
        if (sig == SYSCALL_STOP)
            on_call_stop(s, t, now);
        else
            on_signal(s, t, sig, now);
        break;
    case PTRACE_EVENT_SECCOMP:
        on_entry(s, t, true, now);
        break;
    case PTRACE_EVENT_STOP:
        on_event_stop(s, t, sig, now);
        break;
    default:
        t->have_regs = false;
        if (unlikely(t->fresh))
            first_contact(s, t, now);
        clone_exec_event(s, t, event, now);
    }
}

void stops_handle(struct source *s, const struct standing *who, uint64_t now)
{
    struct ptraced *t = ptraced_find(s->threads, who->tid);

    s->stops++;
    if (s->client.stopped && !s->silent)
        s->client.stopped(s->client.arg, now);
    if (unlikely(!t || t->limbo)) {
        clone_exec_stranger(s, t, who);
        return;
    }
    if (likely(WIFSTOPPED(who->status)))
        on_stop(s, t, who, now);
    else if (WIFEXITED(who->status) || WIFSIGNALED(who->status))
        clone_exec_end(s, t, who->status, now);
}
