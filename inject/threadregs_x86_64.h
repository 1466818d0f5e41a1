/* threadregs_x86_64.h: see threadregs.h. */
#ifndef FLAME_INJECT_THREADREGS_X86_64_H
#define FLAME_INJECT_THREADREGS_X86_64_H

#if defined(__x86_64__)

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "tracer/offcpu/kernel_errno.h"
#include "tracer/ptrace/callregs.h"

#define THREADREGS_SYSCALL 0x0f, 0x05

static inline uintptr_t threadregs_pc(const struct user_regs_struct *r)
{
    return r->rip;
}

static inline uintptr_t threadregs_sp(const struct user_regs_struct *r)
{
    return r->rsp;
}

static inline uintptr_t threadregs_control_block(pid_t tid, const struct user_regs_struct *r)
{
    (void)tid;
    return r->fs_base;
}

static inline void threadregs_call(struct user_regs_struct *r, uintptr_t insn, long nr,
                                   const unsigned long args[6])
{
    r->rip = insn;
    r->rax = (unsigned long)nr;
    r->orig_rax = (unsigned long)-1;
    r->rdi = args[0];
    r->rsi = args[1];
    r->rdx = args[2];
    r->r10 = args[3];
    r->r8 = args[4];
    r->r9 = args[5];
}

static inline bool threadregs_is_call(const struct user_regs_struct *r, const struct cut_call *c)
{
    (void)r;
    (void)c;
    return true;
}

static inline bool threadregs_by_block(const struct callregs *r)
{
    return callregs_nr(r) >= 0 && callregs_result(r) == -ERESTART_RESTARTBLOCK;
}

static inline void threadregs_continue_by_block(struct user_regs_struct *r)
{
    (void)r;
}

static inline long threadregs_result(const struct user_regs_struct *r)
{
    return (long)r->rax;
}

/* A call changes rcx and r11 only. */
struct threadregs_kept {
    char none;
};

static inline bool threadregs_keep(pid_t tid, struct threadregs_kept *k)
{
    (void)tid;
    (void)k;
    return true;
}

static inline size_t threadregs_vectors(pid_t tid, void *to, size_t size)
{
    struct iovec v = {to, size};

    return ptrace(PTRACE_GETREGSET, tid, NT_X86_XSTATE, &v) == 0 ? v.iov_len : 0;
}

static inline void threadregs_put_back(pid_t tid, const struct threadregs_kept *k)
{
    (void)tid;
    (void)k;
}

static inline bool threadregs_read(pid_t tid, struct user_regs_struct *r)
{
    return ptrace(PTRACE_GETREGS, tid, 0, r) == 0;
}

static inline bool threadregs_write(pid_t tid, const struct user_regs_struct *r)
{
    return ptrace(PTRACE_SETREGS, tid, 0, r) == 0;
}

#endif
#endif
