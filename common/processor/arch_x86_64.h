/* arch_x86_64.h: see arch.h. Source: the System V ABI's x86-64 supplement. */
#ifndef FLAME_COMMON_PROCESSOR_ARCH_X86_64_H
#define FLAME_COMMON_PROCESSOR_ARCH_X86_64_H

#include <elf.h>
#include <stdint.h>

#define ARCH_R_JUMP_SLOT R_X86_64_JUMP_SLOT
#define ARCH_R_GLOB_DAT R_X86_64_GLOB_DAT
#define ARCH_R_WORD R_X86_64_64
#define ARCH_LIBC_BASE "GLIBC_2.2.5"
#define ARCH_LIBC_C11 "GLIBC_2.16"
#define ARCH_CFI_BP 6
#define ARCH_CFI_SP 7
#define ARCH_CFI_RA 16
#define ARCH_LINK 0
#define ARCH_TLS_ABOVE 0
#define ARCH_PAGE_MOST 4096
#define ARCH_PAGE_SIZE 4096
#define ARCH_PERF_SP 7
#define ARCH_VDSO_CLOCK "__vdso_clock_gettime"
/* struct ucontext's uc_mcontext.gregs in the kernel's asm/ucontext.h and asm/sigcontext.h. */
#define ARCH_UC_BP 120
#define ARCH_UC_SP 160
#define ARCH_UC_PC 168
/* The first word of a thread's control block, at %fs:0, is its own address. */
#define ARCH_READ_THREAD_POINTER(into) __asm__("mov %%fs:0, %0" : "=r"(into))

static inline uintptr_t arch_strip(uintptr_t ra)
{
    return ra;
}

static inline uintptr_t arch_signed(uintptr_t at, uintptr_t pc)
{
    (void)at;
    return pc;
}

#endif
