/*
 * arch.h: all the unwinder must know of the processor.
 */
#ifndef FLAME_UNWIND_ARCH_H
#define FLAME_UNWIND_ARCH_H

#include <elf.h>
#include <stdint.h>

#if defined(__x86_64__)
#define ARCH_R_JUMP_SLOT R_X86_64_JUMP_SLOT
#define ARCH_R_GLOB_DAT R_X86_64_GLOB_DAT
#define ARCH_R_WORD R_X86_64_64
/* The version of all that glibc had when it came to this processor, and of what came
 * with C11. */
#define ARCH_LIBC_BASE "GLIBC_2.2.5"
#define ARCH_LIBC_C11 "GLIBC_2.16"
/* Where a signal frame's ucontext has the interrupted registers: struct
 * ucontext's uc_mcontext.gregs in the kernel's asm/ucontext.h and
 * asm/sigcontext.h. */
#define ARCH_UC_BP 120
#define ARCH_UC_SP 160
#define ARCH_UC_PC 168
/* The first word of a thread's control block, at %fs:0, is its own address. */
#define ARCH_READ_THREAD_POINTER(into) __asm__("mov %%fs:0, %0" : "=r"(into))
#elif defined(__aarch64__)
#define ARCH_R_JUMP_SLOT R_AARCH64_JUMP_SLOT
#define ARCH_R_GLOB_DAT R_AARCH64_GLOB_DAT
#define ARCH_R_WORD R_AARCH64_ABS64
#define ARCH_LIBC_BASE "GLIBC_2.17"
#define ARCH_LIBC_C11 "GLIBC_2.17"
/* In asm/ucontext.h and asm/sigcontext.h: 176 to uc_mcontext, then the fault
 * address, 31 registers, sp and pc; x29 is the frame pointer. */
#define ARCH_UC_BP (176 + 8 + 29 * 8)
#define ARCH_UC_SP (176 + 8 + 31 * 8)
#define ARCH_UC_PC (176 + 8 + 32 * 8)
#define ARCH_READ_THREAD_POINTER(into) __asm__("mrs %0, tpidr_el0" : "=r"(into))
#else
#error "flame knows x86-64 and aarch64; a new processor starts in unwind/arch.h"
#endif

/* The calling thread's control block. gcc 10 has no __builtin_thread_pointer for x86. */
static inline uintptr_t arch_thread_pointer(void)
{
    uintptr_t at;

    ARCH_READ_THREAD_POINTER(at);
    return at;
}

#endif
