#define _GNU_SOURCE
#include "tracer/ptrace/retry.h"

#include <errno.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <time.h>

#include "common/sysnr.h"
#include "tracer/sleeps/calls.h"
#include "tracer/ptrace/restart.h"

#define REG(name) offsetof(struct user_regs_struct, name)
#define RED_ZONE 128 /* bytes below the stack pointer that are the program's */

static uint64_t get(const struct user_regs_struct *regs, size_t at)
{
    uint64_t value;

    memcpy(&value, (const char *)regs + at, sizeof value);
    return value;
}

static void set(struct user_regs_struct *regs, size_t at, uint64_t value)
{
    memcpy((char *)regs + at, &value, sizeof value);
}

/* An argument for the next time; the program's own is kept. */
static void change(struct ptraced *t, size_t at, uint64_t value)
{
    struct retry *g = &t->retry;
    unsigned i = 0;

    while (i < g->nregs && g->reg[i].at != at)
        i++;
    if (i == ARRAY_LEN(g->reg))
        return;
    if (i == g->nregs) {
        g->reg[i].at = at;
        g->reg[i].held = get(&t->regs, at);
        g->nregs++;
    }
    set(&t->regs, at, value);
}

static void restore(struct ptraced *t)
{
    for (unsigned i = 0; i < t->retry.nregs; i++)
        set(&t->regs, t->retry.reg[i].at, t->retry.reg[i].held);
    t->retry.nregs = 0;
    t->retry.done = 0;
}

/* ---- timeouts ---- */

/* The registers that hold the arguments of a call. */
static const size_t arg_register[6] = {REG(rdi), REG(rsi), REG(rdx), REG(r10), REG(r8), REG(r9)};

/* A shorter one is put below the stack. The kernel reads it when the call is made again,
 * before anything else uses the place. */
static bool lessen_timespec(struct ptraced *t, size_t reg, uint64_t spent_ns)
{
    uint64_t at = (t->regs.rsp - RED_ZONE - sizeof(struct timespec)) & ~(uint64_t)15;
    uint64_t from = get(&t->regs, reg), left;
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
    change(t, reg, at);
    return true;
}

/* Makes the timeout shorter by what was spent of it until `now`, from when on the rest counts. */
static void lessen_timeout(struct ptraced *t, const struct call *c, uint64_t now, uint64_t spent_ns)
{
    size_t reg = arg_register[c->timeout_arg];
    uint64_t spent_ms = spent_ns / 1000000u;
    int ms = (int)get(&t->regs, reg);

    if (c->timeout == CALL_TIMEOUT_AT && lessen_timespec(t, reg, spent_ns)) {
        t->retry.from = now;
    } else if (c->timeout == CALL_TIMEOUT_MS && ms > 0) {
        /* Not 0: a call that does not wait has no stop at its entry (callfilter.h). */
        change(t, reg, spent_ms < (uint64_t)ms ? (uint64_t)ms - spent_ms : 1);
        t->retry.from = now - spent_ns % 1000000u;
    }
}

/* ---- */

static int descriptor(const struct ptraced *t, const struct call *c)
{
    return (int)get(&t->regs, arg_register[c->fd_arg]);
}

/* A socket's call that would have given up by now: does so. */
static bool given_up(struct ptraced *t, const struct call *c, uint64_t now)
{
    uint64_t timeout;

    if (!t->retry.since ||
        !restart_socket_timeout(t->pid, descriptor(t, c), restart_sends(c->nr), &timeout) ||
        !timeout || now - t->retry.since < timeout)
        return false;
    /* connect alone goes on behind the back of a caller whose time is over. */
    t->regs.rax = (unsigned long long)(c->nr == SYS_connect ? -EINPROGRESS : -EAGAIN);
    ptrace(PTRACE_POKEUSER, t->tid, REG(rax), t->regs.rax);
    return true;
}

/* A blocking write to a pipe or a socket that wrote less than it was to. */
static bool is_half_done(const struct ptraced *t, const struct call *c)
{
    const struct user_regs_struct *r = &t->regs;
    int fd = (int)r->rdi;

    return c && c->flags & CALL_RESUMES && (int64_t)r->rax > 0 && r->rax < r->rdx &&
           (restart_fd_is(t->tid, fd, "pipe:") || restart_fd_is(t->tid, fd, "socket:"));
}

bool retry_sooner(struct ptraced *t, uint64_t now, uint64_t spent_ns)
{
    struct user_regs_struct *r = &t->regs;
    const struct call *c = call_find((int)r->orig_rax);

    if ((int64_t)r->orig_rax < 0 || !c || c->timeout == CALL_NO_TIMEOUT ||
        !(restart_has_eintr(r) || restart_pending((int64_t)r->rax)))
        return false;
    t->retry.nr = c->nr;
    t->retry.pc = r->rip;
    t->retry.from = 0;
    lessen_timeout(t, c, now, spent_ns);
    return restart_rewind(t->tid, r) == 0;
}

bool retry_take_back(struct ptraced *t, uint64_t now, uint64_t spent_ns, enum retry_how how)
{
    struct user_regs_struct *r = &t->regs;
    const struct call *c = call_find((int)r->orig_rax);
    bool half = how == RETRY_ALL && is_half_done(t, c);
    uint64_t wrote = r->rax;

    /* What the kernel would restart it would not when a handler comes between. */
    bool pending = t->retry.nregs && (int64_t)r->orig_rax >= 0 && restart_pending((int64_t)r->rax);

    if (!half && !pending && !restart_has_eintr(r))
        return false;
    if (how == RETRY_AS_IT_WAS) {
        if (t->retry.done)
            return false;
        restore(t);
    }
    /* Of files only sockets return it for that reason; what a file server says is its affair. */
    if (!half && !pending && c->object == CALL_ON_FD &&
        (!restart_fd_is(t->tid, descriptor(t, c), "socket:") || given_up(t, c, now)))
        return false;
    t->retry.nr = c->nr;
    t->retry.pc = r->rip;
    t->retry.from = 0;
    if (half) {
        change(t, REG(rsi), r->rsi + wrote);
        change(t, REG(rdx), r->rdx - wrote);
        t->retry.done += wrote;
    } else if (how != RETRY_AS_IT_WAS && t->entered) {
        lessen_timeout(t, c, now, spent_ns);
    }
    return restart_rewind(t->tid, r) == 0;
}

void retry_not(struct ptraced *t)
{
    struct user_regs_struct *r = &t->regs;

    if (!t->retry.pc || r->rip + 2 != t->retry.pc)
        return;
    r->rip += 2;
    r->rax = t->retry.done ? t->retry.done : (unsigned long long)-EINTR;
    r->orig_rax = (unsigned long long)t->retry.nr;
    restore(t);
    t->retry.pc = 0;
    ptrace(PTRACE_SETREGS, t->tid, 0, r);
}

bool retry_entered(struct ptraced *t, uint64_t now)
{
    bool again = t->retry.pc && t->regs.rip == t->retry.pc;

    if (!again)
        t->retry.since = now;
    t->entered = again && t->retry.from ? t->retry.from : now;
    t->retry.pc = 0;
    return t->entered != now;
}

void retry_over(struct ptraced *t)
{
    struct user_regs_struct *r = &t->regs;
    uint64_t done = t->retry.done;

    if (!t->retry.nregs)
        return;
    if (done)
        r->rax = (int64_t)r->rax > 0 ? r->rax + done : done;
    restore(t);
    ptrace(PTRACE_SETREGS, t->tid, 0, r);
}
