/*
 * controlblock_x86_64.h: where the calling thread's control block (glibc's struct pthread) begins;
 * 0: that is not known, or not yet. No malloc, no lock.
 */
#ifndef FLAME_PRELOAD_RUNTIME_CONTROLBLOCK_X86_64_H
#define FLAME_PRELOAD_RUNTIME_CONTROLBLOCK_X86_64_H

#include "common/processor/arch.h"

/* The thread pointer is its address. */
static inline uintptr_t controlblock_begin(void)
{
    return arch_thread_pointer();
}

#endif
