/*
 * stackregs_aarch64.h: the registers of a stopped thread in the form that walks need: its pc and
 * sp, and all registers in DWARF's order. Also whether code clears the frame pointer, as the code
 * that begins a thread does.
 */
#ifndef FLAME_TRACER_STACKS_STACKREGS_AARCH64_H
#define FLAME_TRACER_STACKS_STACKREGS_AARCH64_H

#if defined(__aarch64__)

#include <string.h>
#include <sys/user.h>

#include "unwind/remote/remote_libunwind.h"

/* Registers of a sleeping thread, of which only pc and sp are known. */
static inline struct user_regs_struct stackregs_at(uintptr_t pc, uintptr_t sp)
{
    return (struct user_regs_struct){.pc = pc, .sp = sp};
}

static inline struct walk_regs stackregs_walk(const struct user_regs_struct *r)
{
    return (struct walk_regs){.pc = r->pc, .sp = r->sp, .bp = r->regs[29], .lr = r->regs[30]};
}

static inline void stackregs_dwarf(const struct user_regs_struct *r, uint64_t out[REMOTE_REGS])
{
    memcpy(out, r->regs, sizeof r->regs);
    out[REMOTE_SP] = r->sp;
    out[REMOTE_PC] = r->pc;
}

/* mov x29, #0 */
static inline bool stackregs_clears_bp(const uint8_t *code, size_t n)
{
    static const uint8_t clears[] = {0x1d, 0x00, 0x80, 0xd2};

    for (size_t i = 0; i + sizeof clears <= n; i++)
        if (memcmp(code + i, clears, sizeof clears) == 0)
            return true;
    return false;
}

#endif
#endif
