/*
 * stops.c: a stop comes in, an event goes out, the thread goes on.
 *
 * With a filter the seccomp stop is the entry, and the thread is asked for the exit stop
 * (PTRACE_SYSCALL) only while it is in a call that may sleep. Without one all calls stop
 * twice and entry and exit take turns; the first stop after a birth, an attach or a
 * restart is an entry.
 *
 * A PTRACE_INTERRUPT is only sent to threads that run. One that reaches a sleeping call
 * before the interruption takes effect would cut that call short, so such an entry is
 * taken back (restart_rewind) and made again.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "tracer/ptrace/retry.h"
#include "inside/mark.h"
#include "tracer/sleeps/calls.h"
#include "tracer/ptrace/births.h"
#include "tracer/things/proctask.h"
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

/* ESRCH: killed meanwhile; its end will be told. */
void stops_resume(struct source *s, struct ptraced *t, int sig)
{
    bool exit_wanted = (t->in_call || !s->filtered) && !t->end_told;

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

/* What a stop that is no call's has cut short, if anything. */
static bool regs_between_calls(struct ptraced *t)
{
    if (!stops_regs(t))
        return false;
    if (!t->retry.pc)
        callregs_tell(&t->regs, t->seen.is ? &t->seen : &t->cut, t->seen.is);
    return true;
}

static bool regs_at_exit(struct ptraced *t)
{
    if (!stops_regs(t))
        return false;
    callregs_leave(&t->regs, t->args[0]);
    return true;
}

/* A process made with this flag would have the filter and no tracer. clone alone: clone3 has
 * its flags in memory, which a filter cannot look at, nor may a tracer change it. */
static void keep_children_traced(struct source *s, struct ptraced *t)
{
    struct callregs *r = &t->regs;
    uint64_t flags = callregs_argument(r, 0);

    if (!s->filtered || callregs_nr(r) != SYS_clone || !(flags & CLONE_UNTRACED))
        return;
    callregs_set_argument(r, 0, flags & ~(uint64_t)CLONE_UNTRACED);
    callregs_write(t->tid, r);
}

/* What of an entry is to be told; 0: nothing. */
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
    if (call_makes_child(call_find(t->nr)) && !(births_clone_flags(t->tid, r) & CLONE_VFORK))
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
        t->loose = t->told = false;
        t->in_call = !filtered;
        stops_resume(s, t, 0);
        return;
    }
    goes_on = retry_entered(t, now);
    t->halted = false;
    t->told = flags && t->begun && !t->muted && !s->silent;
    t->maps = t->told && flags & CALL_MAPS;
    t->mended = CALLREGS_FORGETS && !t->told && flags & CALL_EINTR;
    t->in_call =
        !filtered || t->retry.nregs || t->mended || (t->told && flags & (CALL_SLEEPS | CALL_MAPS));
    if (t->told && !t->maps) {
        e.restarted = restart_matches(&t->cut, r, &t->nr, t->args);
        t->cut.is = false;
        e.nr = t->nr;
        memcpy(e.args, t->args, sizeof e.args);
        e.no_exit = !(flags & CALL_SLEEPS);
        if (e.no_exit)
            t->told = false;
        source_tell(s, t, &e);
    }
    stops_resume(s, t, 0);
    /* From now on it may sleep; this process may have waited for a CPU since `now`. */
    if (!goes_on)
        t->entered = t->let_go;
}

/*
 * How much of its time the call that ends here has used up. It is counted by the clock, from a
 * moment at which the program was in the call already: what is left ends never before the time
 * that the program asked for is over. Rejected: to leave out how long the thread ran and waited for
 * a CPU. On a loaded machine a call of 300 ms that is cut short every 20 ms took 3 s that way.
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

/* Takes back a call that ends here, where that is to be done. False: it has ended. */
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
    if (t->told) {
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
            e.no_exit = true;
            memcpy(e.args, t->args, sizeof e.args);
        }
        t->may_go = true;
        source_tell(s, t, &e);
        t->told = t->maps = t->may_go = false;
    } else if (t->mended && callregs_result_now(t->tid, &result) && result == -EINTR &&
               regs_at_exit(t)) {
        again = taken_back(s, t, now);
    }
    t->mended = false;
    if (unlikely(!t->at_stop)) /* source_go_on */
        return;
    if (unlikely(t->retry.nregs) && !again && regs_at_exit(t))
        retry_over(t);
    stops_resume(s, t, 0);
}

/* Only without a filter. */
static void on_call_stop(struct source *s, struct ptraced *t, uint64_t now)
{
    if (s->filtered || t->in_call)
        on_exit_stop(s, t, now);
    else
        on_entry(s, t, false, now);
}

/* ---- first contact with a thread attached to ---- */

/* It was told to sleep in a call when we came, and has left it unseen. */
static void tell_unseen_exit(struct source *s, struct ptraced *t, uint64_t now)
{
    struct off_event e = {.kind = OFF_EXIT, .time = now, .nr = t->nr};

    t->unseen = false;
    source_tell(s, t, &e);
}

/* What it was interrupted in at its first stop, if in anything, its registers and `cut` say. */
static void tell_found(struct source *s, struct ptraced *t, uint64_t now)
{
    const struct callregs *r = &t->regs;
    struct off_event e = {.kind = OFF_ENTRY, .time = t->asleep ? t->asleep : now, .in_call = true};

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
    source_tell(s, t, &e);
}

/*
 * At the first stop of a thread that was seen asleep in a call with a timeout: whether it has run
 * more than to this stop since. Then it may have begun another call a moment ago, and since when
 * that one sleeps is not known. What stopped it may be the interruption or a signal.
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
        tell_unseen_exit(s, t, now);
    else if (t->have_regs || regs_between_calls(t))
        tell_found(s, t, now);
}

/* ---- interruptions, job control, signals ---- */

/*
 * The stop of an interruption is not certain to come: any other stop the thread enters
 * after the interruption was sent takes its place. Calls are cut short all the same, until
 * the thread has been on its way to user mode once more.
 */
static void interruption_arrived(struct source *s, struct ptraced *t)
{
    t->interrupting = false;
    t->loose = true;
    s->interrupts--;
}

/* Whether what it is in, or was in last, goes by the filter. */
static bool is_let_by(const struct source *s, const struct ptraced *t)
{
    const struct callregs *r = &t->regs;
    uintptr_t pc = callregs_pc(r);

    return s->opt.lets_by &&
           (pc == s->opt.lets_by || mark_is_on(s->opt.lets_marked, pc, callregs_nr(r),
                                               callregs_argument(r, 0), callregs_argument(r, 5)));
}

/* The interruption may have ended a call that would have gone on. */
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
        if (sig == SIGTRAP && !t->stopped) { /* what is told needs the registers, no more */
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
            source_tell(s, t, &e);
        }
        stops_let_go(t);
        ptrace(PTRACE_LISTEN, t->tid, 0, 0);
        return;
    }
    if (t->stopped) {
        t->stopped = false;
        e.kind = OFF_CONTINUED;
        source_tell(s, t, &e);
    } else if (sample && !restart_pending(callregs_result(&t->regs))) {
        e.kind = OFF_SAMPLE;
        source_tell(s, t, &e);
    }
    stops_resume(s, t, 0);
}

/* Who is let by settles calls that were cut short himself, and has to know whether the program
 * knows why. */
static void tell_handled(struct source *s, struct ptraced *t, int sig, uint64_t now)
{
    if (s->client.handled && !task_ignores(t->tid, sig))
        s->client.handled(s->client.arg, t->tid, now);
}

/* What a call that was cut short returns. What a stop of job control did to it is the
 * program's to see. */
static void settle_call(struct source *s, struct ptraced *t, int sig, uint64_t now)
{
    const struct callregs *r = &t->regs;
    bool ignored;

    /* What is let by is the affair of who makes it. */
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
 * The kernel lets no signal end the first process of a pid namespace, not even the one for what
 * it did itself if it is traced: dropped, that comes again, for ever. Untraced it would have
 * ended by that signal.
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

/* It does once more what it did, untraced. Its other threads end with it. */
static void let_fall(struct source *s, struct ptraced *t, int sig, uint64_t now)
{
    struct off_event e = {.kind = OFF_EXITING, .time = now, .result = sig};

    source_tell(s, t, &e);
    e = (struct off_event){.kind = OFF_THREAD_END, .time = now, .result = sig};
    source_tell(s, t, &e);
    ptrace(PTRACE_DETACH, t->tid, 0, sig);
    births_forget(s, t);
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
    tell_handled(s, t, sig, now);
    /* Only then it matters: it decides whether the call that was cut goes on. */
    e.caught = t->cut.is && task_catches(t->tid, sig);
    source_tell(s, t, &e);
    stops_resume(s, t, sig);
}

/* ---- */

static void on_stop(struct source *s, struct ptraced *t, const struct standing *who, uint64_t now)
{
    int sig = WSTOPSIG(who->status), event = who->status >> 16;

    t->at_stop = true;
    t->clean = event == PTRACE_EVENT_STOP ||
               (event == 0 && (sig != SYSCALL_STOP || s->filtered || t->in_call));
    /* Since when it stands is an estimate, but not before it was let go of. */
    t->stop_began = t->stood_since = who->since > t->let_go ? who->since : t->let_go;
    t->held_more_ns += t->stood_since - (who->earliest > t->let_go ? who->earliest : t->let_go);
    if (unlikely(t->interrupting))
        interruption_arrived(s, t);
    if (unlikely(t->fresh)) {
        attach_stands(s, t);
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
        births_event(s, t, event, now);
    }
}

void stops_handle(struct source *s, const struct standing *who, uint64_t now)
{
    struct ptraced *t = ptraced_find(s->threads, who->tid);

    s->stops++;
    if (s->client.stopped && !s->silent)
        s->client.stopped(s->client.arg, now);
    if (unlikely(!t || t->limbo)) {
        births_stranger(s, t, who);
        return;
    }
    if (likely(WIFSTOPPED(who->status)))
        on_stop(s, t, who, now);
    else if (WIFEXITED(who->status) || WIFSIGNALED(who->status))
        births_end(s, t, who->status, now);
}
