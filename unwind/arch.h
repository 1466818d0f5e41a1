/*
 * arch.h: all the unwinder must know of the processor.
 */
#ifndef FLAME_UNWIND_ARCH_H
#define FLAME_UNWIND_ARCH_H

#include <elf.h>

#if defined(__x86_64__)
#define ARCH_R_JUMP_SLOT R_X86_64_JUMP_SLOT
#define ARCH_R_GLOB_DAT R_X86_64_GLOB_DAT
#elif defined(__aarch64__)
#define ARCH_R_JUMP_SLOT R_AARCH64_JUMP_SLOT
#define ARCH_R_GLOB_DAT R_AARCH64_GLOB_DAT
#else
#error "flame knows x86-64 and aarch64; a new processor starts in unwind/arch.h"
#endif

#endif
