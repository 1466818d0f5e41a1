/*
 * control_block.h: extent of the C library's own record of a thread, which the thread pointer
 * points to, and of the thread's data.
 *
 * glibc's struct pthread has 2,304 bytes in 2.31 to 2.41 on x86-64, and fewer on aarch64. But for
 * the first thread's, it lies above the thread's stack in one mapping with it. With ARCH_TLS_ABOVE
 * it ends at the thread pointer; thread-local data is on the other side.
 */
#ifndef FLAME_COMMON_PROCESSOR_CONTROL_BLOCK_H
#define FLAME_COMMON_PROCESSOR_CONTROL_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/processor/arch.h"

#define CONTROL_BLOCK ((uintptr_t)0x900)
/* Bytes beside it that are taken for thread-local data where its size is not known. */
#define CONTROL_BLOCK_DATA ((uintptr_t)0x10000)

/* Whether an address is taken for thread-local data, or lies in the record, of the thread with that
 * thread pointer. */
static inline bool control_block_has(uintptr_t thread_pointer, uintptr_t addr)
{
    uintptr_t before = ARCH_TLS_ABOVE ? CONTROL_BLOCK : CONTROL_BLOCK_DATA,
              behind = ARCH_TLS_ABOVE ? CONTROL_BLOCK_DATA : CONTROL_BLOCK;

    return addr >= thread_pointer - before && addr < thread_pointer + behind;
}

/* The end of the pages that the record and the data lie in; UINTPTR_MAX: it is not known. */
static inline uintptr_t control_block_end(uintptr_t thread_pointer, uintptr_t page)
{
    return ARCH_TLS_ABOVE ? UINTPTR_MAX : (thread_pointer + CONTROL_BLOCK + page - 1) & -page;
}

#endif
