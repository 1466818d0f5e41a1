#define _GNU_SOURCE
#include "tracer/again.h"

#include <errno.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

#include "tracer/calls.h"
#include "tracer/restart.h"

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
static void change(struct thread *t, size_t at, uint64_t value)
{
    struct again *g = &t->again;
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

static void restore(struct thread *t)
{
    for (unsigned i = 0; i < t->again.nregs; i++)
        set(&t->regs, t->again.reg[i].at, t->again.reg[i].held);
    t->again.nregs = 0;
    t->again.done = 0;
}

/* ---- timeouts ---- */

/* The register with the pointer to the call's struct timespec; 0: it has none. */
static size_t timespec_register(int nr)
{
    switch (nr) {
    case SYS_rt_sigtimedwait:
        return REG(rdx);
    case SYS_epoll_pwait2:
    case SYS_semtimedop:
        return REG(r10);
    case SYS_io_getevents:
    case SYS_io_pgetevents:
        return REG(r8);
    default:
        return 0;
    }
}

/* A shorter one is put below the stack. The kernel reads it when the call is made again,
 * before anything else uses the place. */
static void lessen_timespec(struct thread *t, size_t reg, uint64_t spent_ns)
{
    uint64_t at = (t->regs.rsp - RED_ZONE - sizeof(struct timespec)) & ~(uint64_t)15;
    uint64_t from = get(&t->regs, reg), left;
    struct timespec ts;
    struct iovec here = {&ts, sizeof ts}, there = {(void *)from, sizeof ts};

    if (!from || process_vm_readv(t->tid, &here, 1, &there, 1, 0) != sizeof ts || ts.tv_sec < 0 ||
        ts.tv_sec > INT32_MAX)
        return;
    left = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
    left = left > spent_ns ? left - spent_ns : 0;
    ts = (struct timespec){(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
    there.iov_base = (void *)at;
    if (process_vm_writev(t->tid, &here, 1, &there, 1, 0) == sizeof ts)
        change(t, reg, at);
}

static void lessen_timeout(struct thread *t, int nr, uint64_t spent_ns)
{
    uint64_t spent_ms = spent_ns / 1000000u;
    int ms = (int)t->regs.r10;
    size_t reg = timespec_register(nr);

    if (reg)
        lessen_timespec(t, reg, spent_ns);
    else if ((nr == SYS_epoll_wait || nr == SYS_epoll_pwait) && ms > 0)
        change(t, REG(r10), spent_ms < (uint64_t)ms ? (uint64_t)ms - spent_ms : 0);
}

/* ---- */

static int descriptor(const struct thread *t, const struct call *c)
{
    return (int)(c->fd_arg ? t->regs.rsi : t->regs.rdi);
}

/* A socket's call that would have given up by now: does so. */
static bool given_up(struct thread *t, const struct call *c, uint64_t now)
{
    uint64_t timeout;

    if (!t->again.since ||
        !restart_socket_timeout(t->pid, descriptor(t, c), restart_sends(c->nr), &timeout) ||
        !timeout || now - t->again.since < timeout)
        return false;
    t->regs.rax = (unsigned long long)(c->nr == SYS_connect ? -EINPROGRESS : -EAGAIN);
    ptrace(PTRACE_POKEUSER, t->tid, REG(rax), t->regs.rax);
    return true;
}

/* A blocking write to a pipe or a socket that wrote less than it was to. */
static bool is_half_done(const struct thread *t)
{
    const struct user_regs_struct *r = &t->regs;
    int fd = (int)r->rdi;

    return (r->orig_rax == SYS_write || r->orig_rax == SYS_sendto) && (int64_t)r->rax > 0 &&
           r->rax < r->rdx &&
           (restart_fd_is(t->tid, fd, "pipe:") || restart_fd_is(t->tid, fd, "socket:"));
}

bool again_take_back(struct thread *t, uint64_t now, enum again_how how)
{
    struct user_regs_struct *r = &t->regs;
    const struct call *c = call_find((int)r->orig_rax);
    bool half = how == AGAIN_ALL && is_half_done(t);
    uint64_t wrote = r->rax;

    /* What the kernel would restart it would not when a handler comes between. */
    bool pending = t->again.nregs && (int64_t)r->orig_rax >= 0 && restart_pending((int64_t)r->rax);

    if (!half && !pending && !restart_has_eintr(r))
        return false;
    if (how == AGAIN_AS_IT_WAS) {
        if (t->again.done)
            return false;
        restore(t);
    }
    /* Of files only sockets return it for that reason; what a file server says is its affair. */
    if (!half && !pending && c->object == CALL_ON_FD &&
        (!restart_fd_is(t->tid, descriptor(t, c), "socket:") || given_up(t, c, now)))
        return false;
    t->again.nr = c->nr;
    t->again.pc = r->rip;
    if (half) {
        change(t, REG(rsi), r->rsi + wrote);
        change(t, REG(rdx), r->rdx - wrote);
        t->again.done += wrote;
    } else if (how != AGAIN_AS_IT_WAS && t->entered) {
        lessen_timeout(t, c->nr, now - t->entered);
    }
    return restart_rewind(t->tid, r) == 0;
}

void again_not(struct thread *t)
{
    struct user_regs_struct *r = &t->regs;

    if (!t->again.pc || r->rip + 2 != t->again.pc)
        return;
    r->rip += 2;
    r->rax = t->again.done ? t->again.done : (unsigned long long)-EINTR;
    r->orig_rax = (unsigned long long)t->again.nr;
    restore(t);
    t->again.pc = 0;
    ptrace(PTRACE_SETREGS, t->tid, 0, r);
}

void again_entered(struct thread *t, uint64_t now)
{
    if (!t->again.pc || t->regs.rip != t->again.pc)
        t->again.since = now;
    t->again.pc = 0;
    t->entered = now;
}

void again_over(struct thread *t)
{
    struct user_regs_struct *r = &t->regs;
    uint64_t done = t->again.done;

    if (!t->again.nregs)
        return;
    if (done)
        r->rax = (int64_t)r->rax > 0 ? r->rax + done : done;
    restore(t);
    ptrace(PTRACE_SETREGS, t->tid, 0, r);
}
