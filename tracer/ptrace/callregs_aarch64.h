/*
 * callregs_aarch64.h: see callregs.h.
 *
 * The number of a call is in x8, its arguments in x0 to x5, its result in x0. So the first argument
 * is overwritten at the end of the call. The kernel saves it (orig_x0) but ptrace does not return
 * it. While a thread is stopped at the beginning or the end of a call, and not by a filter, x7 is 0
 * or 1 instead of the program's value.
 *
 * Before the kernel handles signals and interruptions it drops the number of the call. If it will
 * make the call again, it has put the pc back to the instruction and the first argument back into
 * x0 (its do_signal() for arm64). So the call must be known from before: from its end, or from
 * /proc where the thread was seen asleep. If a signal handler will run, the kernel itself puts the
 * pc forward and -EINTR into x0, unless the pc was changed since.
 *
 * Rejected: finding `svc` at the pc, and taking x0 as the result of x8's call if it is -EINTR after
 * a `svc`. The registers are the same after a handler that interrupted the call and has returned,
 * and then the program must see that EINTR.
 */
#ifndef FLAME_TRACER_PTRACE_CALLREGS_AARCH64_H
#define FLAME_TRACER_PTRACE_CALLREGS_AARCH64_H

#if defined(__aarch64__)

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "tracer/ptrace/cutcall.h"
#include "tracer/offcpu/kernel_errno.h"

#ifndef NT_ARM_SYSTEM_CALL
#define NT_ARM_SYSTEM_CALL 0x404
#endif

#define CALLREGS_FORGETS 1
#define CALLREGS_POLL SYS_ppoll
#define CALLREGS_INSN 4                /* bytes of svc */
#define CALLREGS_MODE32 UINT64_C(0x10) /* PSR_MODE32_BIT of the kernel's asm/ptrace.h */

struct callregs {
    struct user_regs_struct user;
    uint64_t first; /* argument of the call */
    int64_t result; /* result of the call */
    int nr;         /* negative: no call */
    bool at_call;   /* stopped at a call's beginning or end: the kernel still knows the call */
    bool put_back;  /* the pc is on the instruction that makes the call */
};

static inline bool callregs_read(pid_t tid, struct callregs *r)
{
    struct iovec v = {&r->user, sizeof r->user};

    if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &v) < 0)
        return false;
    if (v.iov_len != sizeof r->user) { /* a 32-bit program's register set is another, shorter one */
        memset(&r->user, 0, sizeof r->user);
        r->user.pstate = CALLREGS_MODE32;
    }
    r->first = 0;
    r->result = 0;
    r->nr = -1;
    r->at_call = r->put_back = false;
    return true;
}

static inline struct callregs callregs_asleep(uintptr_t pc, uintptr_t sp)
{
    return (struct callregs){.user = {.pc = pc, .sp = sp}, .nr = -1};
}

static inline int callregs_write(pid_t tid, struct callregs *r)
{
    struct iovec v = {&r->user, sizeof r->user};

    return ptrace(PTRACE_SETREGSET, tid, (void *)NT_PRSTATUS, &v) < 0 ? -errno : 0;
}

static inline void callregs_enter(struct callregs *r)
{
    r->nr = (int)r->user.regs[8];
    r->first = r->user.regs[0];
    r->result = -ENOSYS;
    r->at_call = true;
}

static inline void callregs_leave(struct callregs *r, uint64_t first)
{
    r->nr = (int)r->user.regs[8];
    r->first = first;
    r->result = (int64_t)r->user.regs[0];
    r->at_call = true;
}

static inline void callregs_find_call(struct callregs *r, const struct cut_call *call, bool unseen)
{
    bool behind = r->user.pc == call->pc && unseen && (int64_t)r->user.regs[0] == -EINTR;
    bool before = r->user.pc + CALLREGS_INSN == call->pc;

    if (!call->is || r->user.sp != call->sp || (!behind && !before))
        return;
    r->nr = (int)r->user.regs[8];
    r->first = behind ? call->args[0] : r->user.regs[0];
    r->result = behind ? -EINTR : -ERESTARTSYS; /* any other ERESTART* number would do as well */
    r->put_back = before;
}

static inline bool callregs_is_entry(const struct callregs *r, bool by_filter)
{
    return by_filter || !r->user.regs[7];
}

static inline bool callregs_is_foreign(const struct callregs *r)
{
    return r->user.pstate & CALLREGS_MODE32;
}

static inline uintptr_t callregs_pc(const struct callregs *r)
{
    return r->user.pc;
}

static inline uintptr_t callregs_sp(const struct callregs *r)
{
    return r->user.sp;
}

static inline uintptr_t callregs_return(const struct callregs *r)
{
    return r->user.pc + (r->put_back ? CALLREGS_INSN : 0);
}

static inline int callregs_nr(const struct callregs *r)
{
    return r->nr;
}

static inline int64_t callregs_result(const struct callregs *r)
{
    return r->result;
}

static inline uint64_t callregs_argument(const struct callregs *r, unsigned i)
{
    return i ? r->user.regs[i] : r->first;
}

static inline void callregs_set_argument(struct callregs *r, unsigned i, uint64_t value)
{
    if (!i)
        r->first = value;
    if (i || r->result == -ENOSYS || r->put_back) /* else x0 is the result */
        r->user.regs[i] = value;
}

static inline void callregs_set_result(pid_t tid, struct callregs *r, int64_t result)
{
    r->result = result;
    r->user.regs[0] = (uint64_t)result;
    callregs_write(tid, r);
}

static inline int callregs_rewind(pid_t tid, struct callregs *r)
{
    int none = -1, err;
    struct iovec v = {&none, sizeof none};

    if (!r->put_back)
        r->user.pc -= CALLREGS_INSN;
    r->user.regs[0] = r->first;
    err = callregs_write(tid, r);
    if (!err && r->at_call && ptrace(PTRACE_SETREGSET, tid, (void *)NT_ARM_SYSTEM_CALL, &v) < 0)
        err = -errno;
    r->put_back = true;
    r->nr = -1;
    return err;
}

static inline void callregs_forward(struct callregs *r, int nr, int64_t result)
{
    r->user.pc += CALLREGS_INSN;
    r->user.regs[0] = (uint64_t)result;
    r->result = result;
    r->nr = nr;
    r->put_back = false;
}

static inline bool callregs_result_now(pid_t tid, int64_t *result)
{
    struct iovec v = {result, sizeof *result}; /* x0 is the first of all registers */

    return ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &v) == 0;
}

/* mov x8, #NUMBER or mov w8, #NUMBER (movz), before svc. */
static inline int callregs_number(const uint8_t *code, size_t n, size_t *at)
{
    size_t i = (*at < n - CALLREGS_INSN ? *at : n - CALLREGS_INSN) / 4 * 4;
    uint32_t insn;

    while (i >= 4) {
        i -= 4;
        memcpy(&insn, code + i, sizeof insn);
        if ((insn & 0x7fe0001f) == 0x52800008) {
            *at = i;
            return (int)(insn >> 5 & 0xffff);
        }
    }
    return -1;
}

#endif
#endif
