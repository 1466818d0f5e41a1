/*
 * remote_copy.h: copies the memory of a stopped process into held memory.
 */
#ifndef FLAME_INJECT_MEMORY_REMOTE_COPY_H
#define FLAME_INJECT_MEMORY_REMOTE_COPY_H

#include "inject/memory/held_memory.h"
#include "inject/memory/remote_pages.h"

/* Adds the pages of [lo, hi) that are there and can be read. Both are multiples of a page. `zeros`:
 * the mapping is private and has no file, so pages that are not there read as zeros. */
void remote_copy(struct held_memory *to, struct remote_pages *from, uintptr_t lo, uintptr_t hi,
                 bool zeros);

#endif
