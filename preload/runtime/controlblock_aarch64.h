/*
 * controlblock_aarch64.h: where the calling thread's control block (glibc's struct pthread) begins;
 * 0: that is not known, or not yet. No malloc, no lock.
 */
#ifndef FLAME_PRELOAD_RUNTIME_CONTROLBLOCK_AARCH64_H
#define FLAME_PRELOAD_RUNTIME_CONTROLBLOCK_AARCH64_H

#include "preload/runtime/next_symbol.h"
#include "common/processor/arch.h"

/* It ends at the thread pointer. How large it is glibc tells debuggers (libthread_db). */
static inline uintptr_t controlblock_begin(void)
{
    static const uint32_t *size;

    if (!size && next_symbol_loader_is_done())
        size = next_symbol_find("_thread_db_sizeof_pthread", "GLIBC_PRIVATE");
    return size ? arch_thread_pointer() - *size : 0;
}

#endif
