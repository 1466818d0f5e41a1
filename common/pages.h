/*
 * pages.h: zeroed memory straight from the kernel.
 *
 * For code that runs inside a traced program, where the process's allocator
 * must not be called. Raw system calls, so nothing that interposes mmap sees
 * them. Thread- and signal-safe. errno may change.
 */
#ifndef FLAME_COMMON_PAGES_H
#define FLAME_COMMON_PAGES_H

#include "common/compiler.h"

/* `size` is rounded up to whole pages. NULL when the kernel refuses. */
void *pages_alloc(size_t size);
/* The same at a multiple of `align`, a power of two and no less than a page. */
void *pages_alloc_aligned(size_t size, size_t align);
/* `size` as given to pages_alloc. NULL is allowed. */
void pages_free(void *p, size_t size);

#endif
