#define _GNU_SOURCE
#include "tracer/ptrace/retry.h"

#include <errno.h>
#include <signal.h>
#include <sys/uio.h>
#include <time.h>

#include "common/sysnr.h"
#include "tracer/offcpu/calls.h"
#include "tracer/ptrace/restart.h"

#define RED_ZONE 128 /* bytes below the stack pointer that are the program's */

/* Sets an argument for the next attempt; the program's own value is saved. */
static void change(struct ptraced *t, unsigned at, uint64_t value)
{
    struct retry *g = &t->retry;
    unsigned i = 0;

    while (i < g->nregs && g->reg[i].at != at)
        i++;
    if (i == ARRAY_LEN(g->reg))
        return;
    if (i == g->nregs) {
        g->reg[i].at = at;
        g->reg[i].held = callregs_argument(&t->regs, at);
        g->nregs++;
    }
    callregs_set_argument(&t->regs, at, value);
}

static void restore(struct ptraced *t)
{
    for (unsigned i = 0; i < t->retry.nregs; i++)
        callregs_set_argument(&t->regs, t->retry.reg[i].at, t->retry.reg[i].held);
    t->retry.nregs = 0;
    t->retry.done = 0;
}

/* ---- timeouts ---- */

/* Puts a shorter timeout below the stack. The kernel reads it when the call is made again, before
 * anything else uses the place. */
static bool lessen_timespec(struct ptraced *t, unsigned arg, uint64_t spent_ns)
{
    uint64_t at = (callregs_sp(&t->regs) - RED_ZONE - sizeof(struct timespec)) & ~(uint64_t)15;
    uint64_t from = callregs_argument(&t->regs, arg), left;
    struct timespec ts;
    struct iovec here = {&ts, sizeof ts}, there = {(void *)from, sizeof ts};

    if (!from || process_vm_readv(t->tid, &here, 1, &there, 1, 0) != sizeof ts || ts.tv_sec < 0 ||
        ts.tv_sec > INT32_MAX)
        return false;
    left = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
    left = left > spent_ns ? left - spent_ns : 0;
    ts = (struct timespec){(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
    there.iov_base = (void *)at;
    if (process_vm_writev(t->tid, &here, 1, &there, 1, 0) != sizeof ts)
        return false;
    change(t, arg, at);
    return true;
}

/* Shortens the timeout by the time spent until `now`; the rest counts from then on. */
static void lessen_timeout(struct ptraced *t, const struct call *c, uint64_t now, uint64_t spent_ns)
{
    unsigned arg = c->timeout_arg;
    uint64_t spent_ms = spent_ns / 1000000u;
    int ms = (int)callregs_argument(&t->regs, arg);

    if (c->timeout == CALL_TIMEOUT_AT && lessen_timespec(t, arg, spent_ns)) {
        t->retry.from = now;
    } else if (c->timeout == CALL_TIMEOUT_MS && ms > 0) {
        /* Not 0: a call that does not wait has no stop at its entry (callfilter.h). */
        change(t, arg, spent_ms < (uint64_t)ms ? (uint64_t)ms - spent_ms : 1);
        t->retry.from = now - spent_ns % 1000000u;
    }
}

/* ---- */

static int descriptor(const struct ptraced *t, const struct call *c)
{
    return (int)callregs_argument(&t->regs, c->fd_arg);
}

/* Ends a socket call whose timeout has passed by now, as the kernel would. */
static bool has_timed_out(struct ptraced *t, const struct call *c, uint64_t now)
{
    uint64_t timeout;

    if (!t->retry.since ||
        !restart_socket_timeout(t->pid, descriptor(t, c), restart_sends(c->nr), &timeout) ||
        !timeout || now - t->retry.since < timeout)
        return false;
    /* Only connect continues in the background when its caller's time is over. */
    callregs_set_result(t->tid, &t->regs, c->nr == SYS_connect ? -EINPROGRESS : -EAGAIN);
    return true;
}

/* Whether a write wrote less than requested, and only a signal can be the reason. */
static bool is_half_done(struct ptraced *t, const struct call *c, uint64_t now)
{
    const struct callregs *r = &t->regs;
    int64_t wrote = callregs_result(r);
    enum cutwrite reason;

    if (!c || !(c->flags & CALL_RESUMES) || !t->retry.since || wrote <= 0 ||
        (uint64_t)wrote >= callregs_argument(r, 2))
        return false;
    reason = restart_write_reason(t->pid, (int)callregs_argument(r, 0), now - t->retry.since);
    t->retry.quiet = reason == CUTWRITE_SOCKET;
    return reason != CUTWRITE_NOT;
}

bool retry_sooner(struct ptraced *t, uint64_t now, uint64_t spent_ns)
{
    struct callregs *r = &t->regs;
    const struct call *c = call_find(callregs_nr(r));

    if (callregs_nr(r) < 0 || !c || c->timeout == CALL_NO_TIMEOUT ||
        !(restart_has_eintr(r) || restart_pending(callregs_result(r))))
        return false;
    t->retry.nr = c->nr;
    t->retry.pc = callregs_return(r);
    t->retry.from = 0;
    lessen_timeout(t, c, now, spent_ns);
    return callregs_rewind(t->tid, r) == 0;
}

bool retry_cut_short(struct ptraced *t)
{
    struct callregs *r = &t->regs;

    if (!restart_has_eintr(r))
        return false;
    t->retry.nr = callregs_nr(r);
    t->retry.pc = callregs_return(r);
    t->retry.from = 0;
    return callregs_rewind(t->tid, r) == 0;
}

bool retry_take_back(struct ptraced *t, uint64_t now, uint64_t spent_ns, enum retry_how how)
{
    struct callregs *r = &t->regs;
    const struct call *c = call_find(callregs_nr(r));
    bool half = how == RETRY_ALL && is_half_done(t, c, now);
    uint64_t wrote = (uint64_t)callregs_result(r);

    /* The kernel restarts this call only if no signal handler runs first. */
    bool pending = t->retry.nregs && callregs_nr(r) >= 0 && restart_pending(callregs_result(r));

    if (!half && !pending && !restart_has_eintr(r))
        return false;
    if (how == RETRY_AS_IT_WAS) {
        if (t->retry.done)
            return false;
        restore(t);
    }
    /* Sockets are the only files that return EINTR for that reason. EINTR from a file server is its
     * own result and stays. */
    if (!half && !pending && c->object == CALL_ON_FD &&
        (!restart_fd_is(t->tid, descriptor(t, c), "socket:") || has_timed_out(t, c, now)))
        return false;
    t->retry.nr = c->nr;
    t->retry.pc = callregs_return(r);
    t->retry.from = 0;
    if (half) {
        change(t, 1, callregs_argument(r, 1) + wrote);
        change(t, 2, callregs_argument(r, 2) - wrote);
        t->retry.done += wrote;
    } else if (how != RETRY_AS_IT_WAS && t->entered) {
        lessen_timeout(t, c, now, spent_ns);
    }
    return callregs_rewind(t->tid, r) == 0;
}

void retry_not(struct ptraced *t)
{
    struct callregs *r = &t->regs;

    if (!t->retry.pc || callregs_pc(r) + CALLREGS_INSN != t->retry.pc)
        return;
    callregs_forward(r, t->retry.nr, t->retry.done ? (int64_t)t->retry.done : -EINTR);
    restore(t);
    t->retry.pc = 0;
    callregs_write(t->tid, r);
}

bool retry_entered(struct ptraced *t, uint64_t now)
{
    bool again = t->retry.pc && callregs_pc(&t->regs) == t->retry.pc;

    if (!again)
        t->retry.since = now;
    t->entered = again && t->retry.from ? t->retry.from : now;
    t->retry.pc = 0;
    t->retry.broken = false;
    return t->entered != now;
}

bool retry_drops(struct ptraced *t, int sig)
{
    bool drops = t->retry.broken && sig == SIGPIPE;

    t->retry.broken = t->retry.broken && !drops;
    return drops;
}

void retry_over(struct ptraced *t)
{
    struct callregs *r = &t->regs;
    uint64_t done = t->retry.done;

    if (!t->retry.nregs)
        return;
    t->retry.broken = done && t->retry.quiet && callregs_result(r) == -EPIPE;
    if (done)
        callregs_set_result(t->tid, r,
                            (int64_t)done + (callregs_result(r) > 0 ? callregs_result(r) : 0));
    restore(t);
    callregs_write(t->tid, r);
}
