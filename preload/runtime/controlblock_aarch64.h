/*
 * controlblock_aarch64.h: address of the calling thread's control block (glibc's struct pthread);
 * 0: it is not known, or not yet. No malloc, no lock.
 */
#ifndef FLAME_PRELOAD_RUNTIME_CONTROLBLOCK_AARCH64_H
#define FLAME_PRELOAD_RUNTIME_CONTROLBLOCK_AARCH64_H

#include "preload/runtime/next_symbol.h"
#include "common/processor/arch.h"

/* The control block ends at the thread pointer. A symbol that glibc has for debuggers
 * (libthread_db) holds its size. */
static inline uintptr_t controlblock_begin(void)
{
    static const uint32_t *size;

    if (!size && next_symbol_loader_is_done())
        size = next_symbol_find("_thread_db_sizeof_pthread", "GLIBC_PRIVATE");
    return size ? arch_thread_pointer() - *size : 0;
}

#endif
