/*
 * threadregs_aarch64.h: see threadregs.h. Before a stop the kernel forgets the call that a thread
 * was in, and looks at the pc after the stop (callregs_aarch64.h): with another pc the call that is
 * made for flame is none that it would continue.
 *
 * A call clears what is longer than 16 bytes of the vectors, and the predicates (SVE), and leaves
 * streaming mode (SME). Source: the kernel's Documentation/arch/arm64/sve.rst and sme.rst.
 */
#ifndef FLAME_INJECT_THREADREGS_AARCH64_H
#define FLAME_INJECT_THREADREGS_AARCH64_H

#if defined(__aarch64__)

#include <elf.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <time.h>

#include "tracer/ptrace/callregs.h"

#define THREADREGS_SYSCALL 0x01, 0x00, 0x00, 0xd4 /* svc #0 */

static inline uintptr_t threadregs_pc(const struct user_regs_struct *r)
{
    return r->pc;
}

static inline uintptr_t threadregs_sp(const struct user_regs_struct *r)
{
    return r->sp;
}

static inline uintptr_t threadregs_control_block(pid_t tid, const struct user_regs_struct *r)
{
    uintptr_t tp = 0;
    struct iovec v = {&tp, sizeof tp};

    (void)r;
    return ptrace(PTRACE_GETREGSET, tid, (void *)NT_ARM_TLS, &v) == 0 ? tp : 0;
}

/* PSTATE.BTYPE: what kind of branch led to the pc. Of another kind than the instruction there
 * allows the processor faults. */
#define THREADREGS_BTYPE UINT64_C(0xc00)

static inline void threadregs_call(struct user_regs_struct *r, uintptr_t insn, long nr,
                                   const unsigned long args[6])
{
    r->pc = insn;
    r->pstate &= ~THREADREGS_BTYPE;
    r->regs[8] = (unsigned long)nr;
    for (int i = 0; i < 6; i++)
        r->regs[i] = args[i];
}

static inline bool threadregs_is_call(const struct user_regs_struct *r, const struct cut_call *c)
{
    if (r->regs[8] != (uint64_t)c->nr && r->regs[8] != SYS_restart_syscall)
        return false;
    for (int i = 1; i < 6; i++)
        if (r->regs[i] != c->args[i])
            return false;
    return true;
}

static inline bool threadregs_by_block(const struct callregs *r)
{
    const unsigned long long *a = r->user.regs;

    if (!r->put_back)
        return false;
    switch (r->user.regs[8]) {
    case SYS_restart_syscall:
    case SYS_nanosleep:
        return true;
    case SYS_clock_nanosleep:
        return !(a[1] & TIMER_ABSTIME);
    case SYS_futex:
        return a[3] && ((a[1] & FUTEX_CMD_MASK) == FUTEX_WAIT ||
                        (a[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET);
    default:
        return false;
    }
}

static inline void threadregs_continue_by_block(struct user_regs_struct *r)
{
    r->regs[8] = SYS_restart_syscall;
}

static inline long threadregs_result(const struct user_regs_struct *r)
{
    return (long)r->regs[0];
}

#ifndef NT_ARM_SVE
#define NT_ARM_SVE 0x405
#endif
#ifndef NT_ARM_ZA
#define NT_ARM_ZA 0x40c
#endif
#ifndef NT_ARM_SSVE
#define NT_ARM_SSVE 0x40b
#endif

/* A set of long registers, as ptrace has it. */
struct threadregs_sve {
    uint32_t size, max_size;
    uint16_t vl, max_vl; /* bytes of a vector */
    uint16_t flags, reserved;
    uint8_t data[9216]; /* 32 vectors, 17 predicates and two words, of 256 bytes and less */
};
#define THREADREGS_SVE_HEAD offsetof(struct threadregs_sve, data)
#define THREADREGS_SVE_LONG 1u /* flags: the data is of long registers */

struct threadregs_kept {
    struct threadregs_sve sve;
    size_t size; /* 0: the thread has none in use */
};

/* Whether the thread has a set of registers in use. */
static inline bool threadregs_has(pid_t tid, int set, struct threadregs_sve *s)
{
    struct iovec v = {s, sizeof *s};

    return ptrace(PTRACE_GETREGSET, tid, (void *)(long)set, &v) == 0 &&
           v.iov_len > THREADREGS_SVE_HEAD;
}

static inline bool threadregs_keep(pid_t tid, struct threadregs_kept *k)
{
    k->size = 0;
    if (threadregs_has(tid, NT_ARM_ZA, &k->sve) ||
        (threadregs_has(tid, NT_ARM_SSVE, &k->sve) && k->sve.flags & THREADREGS_SVE_LONG))
        return false;
    if (threadregs_has(tid, NT_ARM_SVE, &k->sve) && k->sve.flags & THREADREGS_SVE_LONG)
        k->size = k->sve.size;
    return k->size <= sizeof k->sve;
}

static inline size_t threadregs_vectors(pid_t tid, void *to, size_t size)
{
    struct iovec v = {to, size};
    struct threadregs_kept k;

    if (threadregs_has(tid, NT_ARM_SVE, &k.sve) && k.sve.flags & THREADREGS_SVE_LONG) {
        size = k.sve.size - THREADREGS_SVE_HEAD < size ? k.sve.size - THREADREGS_SVE_HEAD : size;
        memcpy(to, k.sve.data, size);
        return size;
    }
    return ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRFPREG, &v) == 0 ? v.iov_len : 0;
}

static inline void threadregs_put_back(pid_t tid, const struct threadregs_kept *k)
{
    struct iovec v = {(void *)&k->sve, k->size};

    if (k->size)
        ptrace(PTRACE_SETREGSET, tid, (void *)NT_ARM_SVE, &v);
}

static inline bool threadregs_read(pid_t tid, struct user_regs_struct *r)
{
    struct iovec v = {r, sizeof *r};

    return ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &v) == 0 && v.iov_len == sizeof *r;
}

static inline bool threadregs_write(pid_t tid, const struct user_regs_struct *r)
{
    struct iovec v = {(void *)r, sizeof *r};

    return ptrace(PTRACE_SETREGSET, tid, (void *)NT_PRSTATUS, &v) == 0;
}

#endif
#endif
