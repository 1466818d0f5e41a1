/*
 * callregs_x86_64.h: see callregs.h. The kernel keeps the number of the call in orig_rax until the
 * thread is back in the program, and decides only then about a call that was cut short. So the
 * registers alone identify the call. Source: the System V ABI's x86-64 supplement, appendix A.2.
 */
#ifndef FLAME_TRACER_PTRACE_CALLREGS_X86_64_H
#define FLAME_TRACER_PTRACE_CALLREGS_X86_64_H

#if defined(__x86_64__)

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/user.h>

#include "tracer/ptrace/cutcall.h"

#define CALLREGS_FORGETS 0
#define CALLREGS_POLL SYS_poll
#define CALLREGS_CS_64BIT 0x33 /* code segment of 64-bit programs */
#define CALLREGS_INSN 2        /* bytes of the syscall instruction */
#define CALLREGS_REG(name) offsetof(struct user_regs_struct, name)

struct callregs {
    struct user_regs_struct user;
};

/* Offset of a call's argument in the registers. */
static inline size_t callregs_place(unsigned i)
{
    static const size_t at[6] = {CALLREGS_REG(rdi), CALLREGS_REG(rsi), CALLREGS_REG(rdx),
                                 CALLREGS_REG(r10), CALLREGS_REG(r8),  CALLREGS_REG(r9)};

    return at[i];
}

static inline bool callregs_read(pid_t tid, struct callregs *r)
{
    return ptrace(PTRACE_GETREGS, tid, 0, &r->user) == 0;
}

static inline struct callregs callregs_asleep(uintptr_t pc, uintptr_t sp)
{
    return (struct callregs){.user = {.rip = pc, .rsp = sp}};
}

static inline int callregs_write(pid_t tid, struct callregs *r)
{
    return ptrace(PTRACE_SETREGS, tid, 0, &r->user) < 0 ? -errno : 0;
}

static inline void callregs_enter(struct callregs *r)
{
    (void)r;
}

static inline void callregs_leave(struct callregs *r, uint64_t first)
{
    (void)r;
    (void)first;
}

static inline void callregs_find_call(struct callregs *r, const struct cut_call *call, bool unseen)
{
    (void)r;
    (void)call;
    (void)unseen;
}

static inline bool callregs_is_entry(const struct callregs *r, bool by_filter)
{
    (void)by_filter;
    return (int64_t)r->user.rax == -ENOSYS;
}

static inline bool callregs_is_foreign(const struct callregs *r)
{
    return r->user.cs != CALLREGS_CS_64BIT;
}

static inline uintptr_t callregs_pc(const struct callregs *r)
{
    return r->user.rip;
}

static inline uintptr_t callregs_sp(const struct callregs *r)
{
    return r->user.rsp;
}

static inline uintptr_t callregs_return(const struct callregs *r)
{
    return r->user.rip;
}

static inline int callregs_nr(const struct callregs *r)
{
    return (int64_t)r->user.orig_rax < 0 ? -1 : (int)r->user.orig_rax;
}

static inline int64_t callregs_result(const struct callregs *r)
{
    return (int64_t)r->user.rax;
}

static inline uint64_t callregs_argument(const struct callregs *r, unsigned i)
{
    uint64_t value;

    memcpy(&value, (const char *)&r->user + callregs_place(i), sizeof value);
    return value;
}

static inline void callregs_set_argument(struct callregs *r, unsigned i, uint64_t value)
{
    memcpy((char *)&r->user + callregs_place(i), &value, sizeof value);
}

static inline void callregs_set_result(pid_t tid, struct callregs *r, int64_t result)
{
    r->user.rax = (unsigned long long)result;
    ptrace(PTRACE_POKEUSER, tid, CALLREGS_REG(rax), r->user.rax);
}

static inline int callregs_rewind(pid_t tid, struct callregs *r)
{
    r->user.rax = r->user.orig_rax;
    r->user.orig_rax = (unsigned long long)-1; /* no call is made */
    r->user.rip -= CALLREGS_INSN;
    return callregs_write(tid, r);
}

static inline void callregs_forward(struct callregs *r, int nr, int64_t result)
{
    r->user.rip += CALLREGS_INSN;
    r->user.rax = (unsigned long long)result;
    r->user.orig_rax = (unsigned long long)nr;
}

static inline bool callregs_result_now(pid_t tid, int64_t *result)
{
    errno = 0;
    *result = ptrace(PTRACE_PEEKUSER, tid, CALLREGS_REG(rax), 0);
    return *result != -1 || !errno;
}

/* mov $NUMBER, %eax, before a syscall instruction. */
static inline int callregs_number(const uint8_t *code, size_t n, size_t *at)
{
    size_t i = *at < n - CALLREGS_INSN - 5 + 1 ? *at : n - CALLREGS_INSN - 5 + 1;
    int nr;

    while (i-- > 0)
        if (code[i] == 0xb8) {
            memcpy(&nr, code + i + 1, sizeof nr);
            *at = i;
            return nr < 0 ? 0x7fffffff : nr;
        }
    return -1;
}

#endif
#endif
