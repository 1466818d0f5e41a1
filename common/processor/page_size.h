/*
 * page_size.h: bytes of a page of the kernel's. On x86-64 it is 4 KiB; kernels for aarch64 are
 * built with 4, 16 (Raspberry Pi 5, Asahi) or 64 KiB. Any thread, any time; safe in signal
 * handlers.
 */
#ifndef FLAME_COMMON_PROCESSOR_PAGE_SIZE_H
#define FLAME_COMMON_PROCESSOR_PAGE_SIZE_H

#include <stddef.h>
#include <sys/auxv.h>

#include "common/processor/arch.h"

static inline size_t page_size(void)
{
    static size_t known; /* 0: not asked yet */
    size_t size =
        ARCH_PAGE_SIZE ? (size_t)ARCH_PAGE_SIZE : __atomic_load_n(&known, __ATOMIC_RELAXED);

    if (!size) {
        size = (size_t)getauxval(AT_PAGESZ);
        __atomic_store_n(&known, size, __ATOMIC_RELAXED);
    }
    return size;
}

/* `size` rounded up to whole pages. */
static inline size_t whole_pages(size_t size)
{
    return (size + page_size() - 1) & -page_size();
}

#endif
