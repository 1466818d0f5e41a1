/*
 * arch_aarch64.h: see arch.h. Source: DWARF for the Arm 64-bit Architecture (aadwarf64), table 2
 * (register numbers) and section 4.1 (return addresses that are signed).
 */
#ifndef FLAME_COMMON_PROCESSOR_ARCH_AARCH64_H
#define FLAME_COMMON_PROCESSOR_ARCH_AARCH64_H

#include <elf.h>
#include <stdint.h>

#define ARCH_R_JUMP_SLOT R_AARCH64_JUMP_SLOT
#define ARCH_R_GLOB_DAT R_AARCH64_GLOB_DAT
#define ARCH_R_WORD R_AARCH64_ABS64
#define ARCH_LIBC_BASE "GLIBC_2.17"
#define ARCH_LIBC_C11 "GLIBC_2.17"
#define ARCH_CFI_BP 29
#define ARCH_CFI_SP 31
#define ARCH_CFI_RA 30
#define ARCH_LINK 1
#define ARCH_TLS_ABOVE 1 /* the ABI's variant I: ELF Handling For Thread-Local Storage, 3 */
#define ARCH_PAGE_MOST 65536
#define ARCH_PAGE_SIZE 0 /* kernels are built with 4, 16 or 64 KiB */
#define ARCH_PERF_SP 31
#define ARCH_VDSO_CLOCK "__kernel_clock_gettime"
/* The kernel's struct rt_sigframe has a siginfo of 128 bytes before the ucontext. In asm/ucontext.h
 * and asm/sigcontext.h: 176 to uc_mcontext, then the fault address, 31 registers, sp and pc. */
#define ARCH_UC(at) (128 + 176 + 8 + (at)*8)
#define ARCH_UC_BP ARCH_UC(29)
#define ARCH_UC_LR ARCH_UC(30)
#define ARCH_UC_SP ARCH_UC(31)
#define ARCH_UC_PC ARCH_UC(32)
#define ARCH_READ_THREAD_POINTER(into) __asm__("mrs %0, tpidr_el0" : "=r"(into))

/*
 * Programs may sign return addresses (gcc -mbranch-protection), in the bits above those that
 * addresses have. Linux gives programs 48 bits, and 52 only if they ask mmap for an address that
 * high, which no loader does for code. So it does not matter whether call frame information says
 * that an address is signed (DW_CFA_AARCH64_negate_ra_state). Rejected: xpaclri, because it strips
 * only the signatures of a processor that has them, not addresses of another machine's trace.
 */
static inline uintptr_t arch_strip(uintptr_t ra)
{
    return ra & (((uintptr_t)1 << 48) - 1);
}

static inline uintptr_t arch_signed(uintptr_t at, uintptr_t pc)
{
    uintptr_t word = at ? *(const uintptr_t *)at : pc; /* NOLINT */

    return arch_strip(word) == pc ? word : pc;
}

#endif
