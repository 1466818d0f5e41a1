/*
 * fpu_state.h: saves and restores vector and x87 registers around code that may use them.
 *
 * The program expects a system call to leave them unchanged. All of libflamewait.so is compiled
 * without them; the C library's functions, which the walk of a new stack may call, are not. Saving
 * costs some 100 ns, so it is done only there.
 */
#ifndef FLAME_INPROC_LIB_FPU_STATE_H
#define FLAME_INPROC_LIB_FPU_STATE_H

#include <cpuid.h>
#include <stdbool.h>

#include "common/compiler.h"

/* x87, SSE, AVX, and AVX-512's masks and registers. libc does not use the kernel's tiles. */
#define VECTORS_KEPT 0xe7u
#define VECTORS_ALIGN 64

/* Bytes of memory that they need; 0: this processor or kernel cannot save them. */
static inline size_t fpu_state_size(void)
{
    unsigned a, b, c, d;

    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) ||
        !__get_cpuid_count(0xd, 0, &a, &b, &c, &d))
        return 0;
    return b;
}

/* `to`: aligned, of fpu_state_size bytes, all zero before the first time. */
static inline void fpu_state_save(void *to)
{
    __asm__ volatile("xsave64 (%0)" ::"r"(to), "a"(VECTORS_KEPT), "d"(0) : "memory");
}

static inline void fpu_state_restore(const void *from)
{
    __asm__ volatile("xrstor64 (%0)" ::"r"(from), "a"(VECTORS_KEPT), "d"(0) : "memory");
}

#endif
