/*
 * arch.h: all that the unwinder must know about the processor. One file for each processor.
 *
 * Each defines
 *   ARCH_R_JUMP_SLOT, ARCH_R_GLOB_DAT, ARCH_R_WORD
 *                    relocations of import slots, and of a word
 *   ARCH_LIBC_BASE, ARCH_LIBC_C11
 *                    symbol version of all that glibc had when it was ported to this processor, and
 *                    of what came with C11
 *   ARCH_CFI_BP, ARCH_CFI_SP, ARCH_CFI_RA
 *                    DWARF's numbers of the frame pointer, the stack pointer and the return address
 *   ARCH_LINK        1: a call leaves the return address in a register (lr), and the function
 *                    saves it where it likes; 0: it pushes it, so it lies right below the CFA
 *   ARCH_UC_BP, ARCH_UC_SP, ARCH_UC_PC, with ARCH_LINK also ARCH_UC_LR
 *                    where the kernel left the interrupted registers: bytes from the stack
 *                    pointer at the return from a signal handler
 *   arch_strip()     a return address without what signs it
 *   arch_signed()    the word at `at`, if that is `pc` but for a signature; else pc
 *   ARCH_VDSO_CLOCK  what the vDSO calls clock_gettime
 *   ARCH_READ_THREAD_POINTER
 *   ARCH_TLS_ABOVE   1: thread-local data lies above the thread pointer, and the C library's record
 *                    of the thread below it; 0: the other way round
 *   ARCH_PAGE_MOST   bytes of the largest pages of a kernel
 *   ARCH_PAGE_SIZE   bytes of a page; 0: as the kernel says (page_size.h)
 *   ARCH_PERF_SP     number of the stack pointer in perf's records (asm/perf_regs.h)
 */
#ifndef FLAME_COMMON_PROCESSOR_ARCH_H
#define FLAME_COMMON_PROCESSOR_ARCH_H

#include <elf.h>
#include <stdint.h>

#if defined(__x86_64__)
#include "common/processor/arch_x86_64.h"
#elif defined(__aarch64__)
#include "common/processor/arch_aarch64.h"
#else
#error "flame knows x86-64 and aarch64; docs/ports.md says where a new processor starts"
#endif

/* The calling thread's control block. gcc 10 has no __builtin_thread_pointer for x86. */
static inline uintptr_t arch_thread_pointer(void)
{
    uintptr_t at;

    ARCH_READ_THREAD_POINTER(at);
    return at;
}

#endif
