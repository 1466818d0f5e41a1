/*
 * mapped.h: the memory that the program has mapped itself, as its pointers may lie there.
 *
 * What the C library maps inside itself (heaps, threads' stacks) is not seen here, and must
 * not be: a heap holds pointers of blocks that were freed. What an allocator maps while it
 * serves a call is left out for the same reason.
 *
 * Any thread may call these, but for mapped_each. No malloc.
 */
#ifndef FLAME_PRELOAD_LEAK_MAPPED_H
#define FLAME_PRELOAD_LEAK_MAPPED_H

#include <stdbool.h>
#include <stddef.h>

#include "common/compiler.h"

/* From now on [lo, lo + size) is the program's, whatever it was; no more than MAPPED_MAX
 * pieces are kept. */
void mapped_add(uintptr_t lo, size_t size);
/* From now on it is not the program's any more. */
void mapped_remove(uintptr_t lo, size_t size);

#define MAPPED_MAX 65536u

/* Calls `visit` for each piece in the order of addresses. No other thread may run meanwhile. */
void mapped_each(void (*visit)(uintptr_t lo, uintptr_t hi, void *arg), void *arg);

/* Whether some pieces could not be kept, or were being changed when a signal handler wanted to
 * change them: pointers that lie there are not seen. */
bool mapped_incomplete(void);

/* In a forked child: a lock that another thread may have held is free again. */
void mapped_after_fork(void);

#endif
