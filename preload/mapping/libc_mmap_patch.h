/*
 * libc_mmap_patch.h: memory that the C library maps inside itself: malloc's heaps, threads' stacks.
 *
 * On request (FLAMEMEM_OPTIONS sites=) the C library's own system calls that map memory are
 * patched (patch/patcher.h), at the start of recording, while the process has one thread.
 */
#ifndef FLAME_PRELOAD_MAPPING_LIBC_MMAP_PATCH_H
#define FLAME_PRELOAD_MAPPING_LIBC_MMAP_PATCH_H

#include <stdbool.h>

/* Whether the calls are patched, so that an allocator's mappings are counted there. Constant once
 * there are other threads. */
extern bool libc_mmap_patch_on;

#endif
