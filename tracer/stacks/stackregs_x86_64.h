/*
 * stackregs_x86_64.h: the registers of a stopped thread in the form that walks need: its pc and sp,
 * and all registers in DWARF's order. Also whether code clears the frame pointer, as the code that
 * begins a thread does.
 */
#ifndef FLAME_TRACER_STACKS_STACKREGS_X86_64_H
#define FLAME_TRACER_STACKS_STACKREGS_X86_64_H

#if defined(__x86_64__)

#include <string.h>
#include <sys/user.h>

#include "unwind/remote/remote_libunwind.h"

/* Registers of a sleeping thread, of which only pc and sp are known. */
static inline struct user_regs_struct stackregs_at(uintptr_t pc, uintptr_t sp)
{
    return (struct user_regs_struct){.rip = pc, .rsp = sp};
}

static inline struct walk_regs stackregs_walk(const struct user_regs_struct *r)
{
    return (struct walk_regs){.pc = r->rip, .sp = r->rsp, .bp = r->rbp};
}

static inline void stackregs_dwarf(const struct user_regs_struct *r, uint64_t out[REMOTE_REGS])
{
    const uint64_t regs[REMOTE_REGS] = {r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi,
                                        r->rbp, r->rsp, r->r8,  r->r9,  r->r10, r->r11,
                                        r->r12, r->r13, r->r14, r->r15, r->rip};

    memcpy(out, regs, sizeof regs);
}

/* xor %ebp,%ebp */
static inline bool stackregs_clears_bp(const uint8_t *code, size_t n)
{
    for (size_t i = 0; i + 2 <= n; i++)
        if ((code[i] == 0x31 || code[i] == 0x33) && code[i + 1] == 0xed)
            return true;
    return false;
}

#endif
#endif
