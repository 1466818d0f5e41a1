/*
 * controlblock_x86_64.h: address of the calling thread's control block (glibc's struct pthread); 0:
 * it is not known, or not yet. No malloc, no lock.
 */
#ifndef FLAME_PRELOAD_RUNTIME_CONTROLBLOCK_X86_64_H
#define FLAME_PRELOAD_RUNTIME_CONTROLBLOCK_X86_64_H

#include "common/processor/arch.h"

/* The control block begins at the thread pointer. */
static inline uintptr_t controlblock_begin(void)
{
    return arch_thread_pointer();
}

#endif
