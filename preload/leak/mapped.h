/*
 * mapped.h: the memory that the program has mapped itself, as its pointers may lie there.
 *
 * What the C library maps inside itself (heaps, threads' stacks) is not seen here, and must
 * not be: a heap holds pointers of blocks that were freed. What an allocator maps while it
 * serves a call is left out for the same reason.
 *
 * Any thread may call mapped_add and mapped_remove; the others are for one that looks at all
 * pieces, between mapped_hold and mapped_let_go. No malloc.
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

/*
 * Until mapped_let_go no thread changes the list: one that wants to waits. To be called before
 * other threads are made to stand, as one that stands in the middle of a change leaves half of
 * it.
 */
void mapped_hold(void);
void mapped_let_go(void);

/* Calls `visit` for each piece in the order of addresses. */
void mapped_each(void (*visit)(uintptr_t lo, uintptr_t hi, void *arg), void *arg);

/* Whether some pieces could not be kept: pointers that lie there are not seen, and what only
 * they lead to would pass for a leak. From then on, always. */
bool mapped_incomplete(void);

/* In a forked child: a lock that another thread held is free again, and what it was changing
 * is incomplete. */
void mapped_after_fork(void);

#endif
