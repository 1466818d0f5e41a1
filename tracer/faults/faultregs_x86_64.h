/* faultregs_x86_64.h: the registers that the kernel records with a page fault. */
#ifndef FLAME_TRACER_FAULTS_FAULTREGS_X86_64_H
#define FLAME_TRACER_FAULTS_FAULTREGS_X86_64_H

#if defined(__x86_64__)

#include <stdint.h>
#include <sys/user.h>

/* Registers of <asm/perf_regs.h>, in the order of their bits: rax, rbx, rcx, rdx, rsi, rdi, rbp,
 * rsp, rip, and r8 to r15. */
#define FAULT_REGS UINT64_C(0xff01ff)
#define FAULT_REGS_COUNT 17
#define FAULT_REG_BP 6
#define FAULT_REG_SP 7
#define FAULT_REG_PC 8

/* The registers of a fault in ptrace's layout. */
static inline struct user_regs_struct faultregs_of(const uint64_t a[FAULT_REGS_COUNT])
{
    return (struct user_regs_struct){.rax = a[0],
                                     .rbx = a[1],
                                     .rcx = a[2],
                                     .rdx = a[3],
                                     .rsi = a[4],
                                     .rdi = a[5],
                                     .rbp = a[FAULT_REG_BP],
                                     .rsp = a[FAULT_REG_SP],
                                     .rip = a[FAULT_REG_PC],
                                     .r8 = a[9],
                                     .r9 = a[10],
                                     .r10 = a[11],
                                     .r11 = a[12],
                                     .r12 = a[13],
                                     .r13 = a[14],
                                     .r14 = a[15],
                                     .r15 = a[16]};
}

#endif
#endif
