/*
 * arch.h: all the unwinder must know of the processor.
 */
#ifndef FLAME_UNWIND_ARCH_H
#define FLAME_UNWIND_ARCH_H

#include <elf.h>

#if defined(__x86_64__)
#define ARCH_R_JUMP_SLOT R_X86_64_JUMP_SLOT
#define ARCH_R_GLOB_DAT R_X86_64_GLOB_DAT
/* Where a signal frame's ucontext has the interrupted registers: struct
 * ucontext's uc_mcontext.gregs in the kernel's asm/ucontext.h and
 * asm/sigcontext.h. */
#define ARCH_UC_BP 120
#define ARCH_UC_SP 160
#define ARCH_UC_PC 168
#elif defined(__aarch64__)
#define ARCH_R_JUMP_SLOT R_AARCH64_JUMP_SLOT
#define ARCH_R_GLOB_DAT R_AARCH64_GLOB_DAT
/* In asm/ucontext.h and asm/sigcontext.h: 176 to uc_mcontext, then the fault
 * address, 31 registers, sp and pc; x29 is the frame pointer. */
#define ARCH_UC_BP (176 + 8 + 29 * 8)
#define ARCH_UC_SP (176 + 8 + 31 * 8)
#define ARCH_UC_PC (176 + 8 + 32 * 8)
#else
#error "flame knows x86-64 and aarch64; a new processor starts in unwind/arch.h"
#endif

#endif
