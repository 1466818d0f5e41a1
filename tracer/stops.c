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
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "tracer/again.h"
#include "tracer/calls.h"
#include "tracer/lives.h"
#include "tracer/proctask.h"
#include "tracer/restart.h"
#include "tracer/source_state.h"

#define SYSCALL_STOP (SIGTRAP | 0x80) /* PTRACE_O_TRACESYSGOOD */

bool stops_regs(struct thread *t)
{
    t->have_regs = ptrace(PTRACE_GETREGS, t->tid, 0, &t->regs) == 0;
    return t->have_regs;
}

/* ESRCH: killed meanwhile; its end will be told. */
void stops_resume(struct source *s, struct thread *t, int sig)
{
    bool exit_wanted = t->in_call || !s->filtered;

    t->at_stop = false;
    ptrace(exit_wanted && !s->leaving ? PTRACE_SYSCALL : PTRACE_CONT, t->tid, 0, sig);
}

void stops_interrupt(struct source *s, struct thread *t, bool sample)
{
    if (t->interrupting || ptrace(PTRACE_INTERRUPT, t->tid, 0, 0) < 0)
        return;
    if (t->put_off) {
        t->put_off = false;
        s->put_off--;
    }
    t->interrupting = true;
    t->loose = false;
    t->sampling = sample;
    s->interrupts++;
}

static void tell(struct source *s, const struct thread *t, struct off_event *e)
{
    if (t->muted || !t->begun)
        return;
    e->tid = t->tid;
    e->pid = t->pid;
    source_tell(s, e);
}

/* ---- calls ---- */

static void arguments(const struct user_regs_struct *r, uint64_t args[6])
{
    args[0] = r->rdi;
    args[1] = r->rsi;
    args[2] = r->rdx;
    args[3] = r->r10;
    args[4] = r->r8;
    args[5] = r->r9;
}

/* A process made with this flag would have the filter and no tracer. */
static void keep_children_traced(struct source *s, struct thread *t)
{
    struct user_regs_struct *r = &t->regs;

    if (!s->filtered || r->orig_rax != SYS_clone || !(r->rdi & CLONE_UNTRACED))
        return;
    r->rdi &= ~(unsigned long long)CLONE_UNTRACED;
    ptrace(PTRACE_POKEUSER, t->tid, offsetof(struct user_regs_struct, rdi), r->rdi);
}

/* What of an entry is to be told; 0: nothing. */
static unsigned entry_flags(struct source *s, struct thread *t)
{
    struct user_regs_struct *r = &t->regs;
    unsigned flags;

    if (r->cs != CS_64BIT)
        return 0;
    keep_children_traced(s, t);
    t->nr = (int)r->orig_rax;
    arguments(r, t->args);
    flags = call_flags(t->nr, t->args);
    if (t->nr == SYS_clone3 && !(lives_clone_flags(t->tid, r) & CLONE_VFORK))
        flags = 0;
    return flags;
}

static void on_entry(struct source *s, struct thread *t, bool filtered, uint64_t now)
{
    struct off_event e = {.kind = OFF_ENTRY, .time = now};
    struct user_regs_struct *r = &t->regs;
    unsigned flags;

    if (!stops_regs(t))
        return;
    if (unlikely((int64_t)r->rax != -ENOSYS)) { /* an exit whose entry was not seen */
        stops_resume(s, t, 0);
        return;
    }
    flags = entry_flags(s, t);
    if (unlikely(t->loose) && (flags & CALL_SLEEPS || r->cs != CS_64BIT) &&
        restart_rewind(t->tid, r) == 0) {
        t->loose = t->told = false;
        t->in_call = !filtered && !s->leaving;
        stops_resume(s, t, 0);
        return;
    }
    again_entered(t, now);
    t->halted = false;
    t->told = flags && t->begun && !t->muted && !s->silent;
    t->maps = t->told && flags & CALL_MAPS;
    t->in_call = !filtered || t->again.nregs || (t->told && flags & (CALL_SLEEPS | CALL_MAPS));
    if (s->leaving)
        t->in_call = false;
    if (t->told && !t->maps) {
        e.restarted = restart_matches(&t->cut, r, &t->nr, t->args);
        t->cut.is = false;
        e.nr = t->nr;
        memcpy(e.args, t->args, sizeof e.args);
        e.no_exit = !(flags & CALL_SLEEPS);
        if (e.no_exit)
            t->told = false;
        tell(s, t, &e);
    }
    stops_resume(s, t, 0);
}

static enum again_how how_again(const struct source *s, const struct thread *t)
{
    if (s->leaving || s->silent || !t->begun || t->muted)
        return AGAIN_AS_IT_WAS;
    return s->ptrace_options & PTRACE_O_EXITKILL ? AGAIN_ALL : AGAIN_LESS_TIME;
}

static bool is_short(const struct thread *t, uint64_t wrote)
{
    return (t->nr == SYS_write || t->nr == SYS_sendto) && wrote < t->args[2];
}

static void on_exit_stop(struct source *s, struct thread *t, uint64_t now)
{
    struct off_event e = {.kind = OFF_EXIT, .time = now, .nr = t->nr};
    bool again = false;
    long rax;

    t->in_call = false;
    if (t->told) {
        errno = 0;
        rax = ptrace(PTRACE_PEEKUSER, t->tid, offsetof(struct user_regs_struct, rax), 0);
        if (rax == -1 && errno)
            return;
        if (unlikely(rax == -EINTR || t->again.nregs || (rax > 0 && is_short(t, (uint64_t)rax))) &&
            stops_regs(t)) {
            again = again_take_back(t, now, how_again(s, t));
            if (again)
                rax = -ERESTARTNOHAND;
            else if (t->again.nregs)
                again_over(t);
            if (!again)
                rax = (long)t->regs.rax;
        }
        if (unlikely(restart_pending(rax)))
            restart_remember(&t->cut, t->nr, t->args, again ? t->again.pc : t->regs.rip,
                             t->regs.rsp);
        e.result = rax;
        if (t->maps) {
            e.kind = OFF_ENTRY;
            e.no_exit = true;
            memcpy(e.args, t->args, sizeof e.args);
        }
        tell(s, t, &e);
        t->told = t->maps = false;
    }
    if (unlikely(t->again.nregs) && !again && stops_regs(t))
        again_over(t);
    stops_resume(s, t, 0);
}

/* Only without a filter. */
static void on_call_stop(struct source *s, struct thread *t, uint64_t now)
{
    if (s->filtered || t->in_call)
        on_exit_stop(s, t, now);
    else
        on_entry(s, t, false, now);
}

/* ---- first contact with a thread attached to ---- */

/* It was told to sleep in a call when we came, and has left it unseen. */
static void tell_unseen_exit(struct source *s, struct thread *t, uint64_t now)
{
    struct off_event e = {.kind = OFF_EXIT, .time = now, .nr = t->nr};

    t->unseen = false;
    tell(s, t, &e);
}

/* Its first stop: what it was interrupted in, if in anything, its registers and `cut` say. */
static void tell_begin(struct source *s, struct thread *t, uint64_t now)
{
    const struct user_regs_struct *r = &t->regs;
    struct off_event e = {.kind = OFF_THREAD_BEGIN, .time = now};

    t->begun = true;
    if ((int64_t)r->orig_rax >= 0 && restart_pending((int64_t)r->rax) && r->cs == CS_64BIT) {
        if (!t->cut.is || t->cut.sp != r->rsp) {
            uint64_t args[6];

            arguments(r, args);
            restart_remember(&t->cut, (int)r->orig_rax, args, r->rip, r->rsp);
        }
        t->cut.pc = r->rip;
        e.in_call = true;
        e.nr = t->nr = t->cut.nr;
        memcpy(e.args, t->cut.args, sizeof e.args);
        memcpy(t->args, t->cut.args, sizeof t->args);
    }
    tell(s, t, &e);
}

static void first_contact(struct source *s, struct thread *t, uint64_t now)
{
    if (t->put_off) {
        t->put_off = false;
        s->put_off--;
    }
    if (t->unseen)
        tell_unseen_exit(s, t, now);
    else if (!s->command && stops_regs(t))
        tell_begin(s, t, now);
}

/* ---- interruptions, job control, signals ---- */

/*
 * The stop of an interruption is not certain to come: any other stop the thread enters
 * after the interruption was sent takes its place. Calls are cut short all the same, until
 * the thread has been on its way to user mode once more.
 */
static void interruption_arrived(struct source *s, struct thread *t)
{
    t->interrupting = false;
    t->loose = true;
    s->interrupts--;
}

static void on_event_stop(struct source *s, struct thread *t, int sig, uint64_t now)
{
    struct off_event e = {.time = now};
    bool sample = t->sampling;

    if (!stops_regs(t))
        return;
    if (t->loose)
        restart_undo_eintr(t->tid, &t->regs);
    t->loose = t->sampling = false;
    if (unlikely(!t->begun || t->unseen))
        first_contact(s, t, now);
    if (sig != SIGTRAP) {
        if (!t->stopped) {
            t->stopped = t->halted = true;
            if (t->again.pc)
                again_not(t);
            e.kind = OFF_STOPPED;
            e.nr = sig;
            tell(s, t, &e);
        }
        t->at_stop = false;
        ptrace(PTRACE_LISTEN, t->tid, 0, 0);
        return;
    }
    if (t->stopped) {
        t->stopped = false;
        e.kind = OFF_CONTINUED;
        tell(s, t, &e);
    } else if (sample && !restart_pending((int64_t)t->regs.rax)) {
        e.kind = OFF_SAMPLE;
        tell(s, t, &e);
    }
    stops_resume(s, t, 0);
}

/* What a call that was cut short returns. What a stop of job control did to it is the
 * program's to see. */
static void settle_call(struct source *s, struct thread *t, int sig, uint64_t now)
{
    const struct user_regs_struct *r = &t->regs;
    bool ignored;

    if (!stops_regs(t) || r->cs != CS_64BIT ||
        (!t->again.pc && ((int64_t)r->rax != -EINTR || (int64_t)r->orig_rax < 0)))
        return;
    ignored = task_ignores(t->tid, sig);
    if (t->again.pc && !ignored)
        again_not(t);
    else if (!t->again.pc && ignored && !t->halted)
        again_take_back(t, now, how_again(s, t));
}

static void on_signal(struct source *s, struct thread *t, int sig, uint64_t now)
{
    struct off_event e = {.kind = OFF_SIGNAL, .time = now, .nr = sig};
    siginfo_t info;

    t->have_regs = false;
    if (unlikely(!t->begun || t->unseen))
        first_contact(s, t, now);
    if (ptrace(PTRACE_GETSIGINFO, t->tid, 0, &info) == 0) {
        e.code = info.si_code;
        if (info.si_code == SI_USER || info.si_code == SI_TKILL || info.si_code == SI_QUEUE ||
            (sig == SIGCHLD && info.si_code > 0))
            e.sender = info.si_pid;
    }
    settle_call(s, t, sig, now);
    /* Only then it matters: it decides whether the call that was cut goes on. */
    e.caught = t->cut.is && task_catches(t->tid, sig);
    tell(s, t, &e);
    stops_resume(s, t, sig);
}

/* ---- */

static void on_stop(struct source *s, struct thread *t, int status, uint64_t now)
{
    int sig = WSTOPSIG(status), event = status >> 16;

    t->at_stop = true;
    if (unlikely(t->interrupting))
        interruption_arrived(s, t);
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
        if (unlikely(!t->begun || t->unseen))
            first_contact(s, t, now);
        lives_event(s, t, event, now);
    }
}

void stops_handle(struct source *s, pid_t tid, int status, uint64_t now)
{
    struct thread *t = traced_find(s->threads, tid);

    s->stops++;
    if (unlikely(!t || t->limbo)) {
        lives_stranger(s, t, tid, status, now);
        return;
    }
    if (likely(WIFSTOPPED(status)))
        on_stop(s, t, status, now);
    else if (WIFEXITED(status) || WIFSIGNALED(status))
        lives_end(s, t, status, now);
}
