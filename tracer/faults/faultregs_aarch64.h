/* faultregs_aarch64.h: the registers that the kernel records with a page fault. */
#ifndef FLAME_TRACER_FAULTS_FAULTREGS_AARCH64_H
#define FLAME_TRACER_FAULTS_FAULTREGS_AARCH64_H

#if defined(__aarch64__)

#include <stdint.h>
#include <string.h>
#include <sys/user.h>

/* Registers of <asm/perf_regs.h>, in the order of their bits: x0 to x29, lr, sp, pc. */
#define FAULT_REGS UINT64_C(0x1ffffffff)
#define FAULT_REGS_COUNT 33
#define FAULT_REG_BP 29
#define FAULT_REG_SP 31
#define FAULT_REG_PC 32

/* The registers of a fault in ptrace's layout. */
static inline struct user_regs_struct faultregs_of(const uint64_t a[FAULT_REGS_COUNT])
{
    struct user_regs_struct r = {.sp = a[FAULT_REG_SP], .pc = a[FAULT_REG_PC]};

    memcpy(r.regs, a, sizeof r.regs);
    return r;
}

#endif
#endif
