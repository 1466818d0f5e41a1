/*
 * pausedblocks.h: blocks that the program does not want recorded, as it allocated them while its
 * recording was paused (preload/flamemem.h).
 *
 * Nothing is remembered of them unless somebody has asked for it: the look for leaks, which reads
 * their pointers, and the judging of frees, which must know them. Memory: 32 to 64 bytes a live
 * block then.
 *
 * Any thread; the guard is held at GUARD_RECORDING. No malloc.
 */
#ifndef FLAME_PRELOAD_SIDETABLES_PAUSEDBLOCKS_H
#define FLAME_PRELOAD_SIDETABLES_PAUSEDBLOCKS_H

#include <stdbool.h>

#include "preload/sidetables/features.h"

/* From now on blocks that are left out are remembered. */
void pausedblocks_remember(void);

/* A thread begins, or ends, to leave out what it allocates. */
void pausedblocks_begin(void);
void pausedblocks_end(void);

/* A block was left out. False: it should be remembered, and there is no memory for that. */
bool pausedblocks_put(uintptr_t addr, uint64_t size);

/* It is about to be freed. False: none is remembered at that address. */
bool pausedblocks_take(uintptr_t addr, uint64_t *size);

bool pausedblocks_has(uintptr_t addr);

/* False: not all are remembered that should be. */
bool pausedblocks_complete(void);

/* Between these two only the calling thread changes anything; it may be held while other threads
 * are made to stand. pausedblocks_each is for in between. */
void pausedblocks_lock(void);
void pausedblocks_unlock(void);
void pausedblocks_each(void (*visit)(uintptr_t addr, uint64_t size, void *arg), void *arg);

/* In a forked child; `paused`: its thread leaves out what it allocates. */
void pausedblocks_after_fork(bool paused);

/* For tests: entries of the table that held a block and can serve no other yet. */
uint32_t pausedblocks_gone(void);

#endif
