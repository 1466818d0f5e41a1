/*
 * pausedblocks.h: blocks that are not counted, because the program allocated them while its
 * recording was paused (preload/flamemem.h).
 *
 * They are stored only for features that need them: the leak scan, which reads their pointers, and
 * the check of frees, which must know them. Memory: 32 to 64 bytes a live block then.
 *
 * Any thread; the guard is held at GUARD_RECORDING. No malloc.
 */
#ifndef FLAME_PRELOAD_SIDETABLES_PAUSEDBLOCKS_H
#define FLAME_PRELOAD_SIDETABLES_PAUSEDBLOCKS_H

#include <stdbool.h>

#include "preload/sidetables/features.h"

/* From now on uncounted blocks are stored. */
void pausedblocks_remember(void);

/* The calling thread begins, or ends, a pause. */
void pausedblocks_begin(void);
void pausedblocks_end(void);

/* Adds an uncounted block. False: it should be stored, and there is no memory for that. */
bool pausedblocks_put(uintptr_t addr, uint64_t size);

/* Removes a block that is about to be freed. False: there is none at that address. */
bool pausedblocks_take(uintptr_t addr, uint64_t *size);

bool pausedblocks_has(uintptr_t addr);

/* False: some blocks that should be stored are not. */
bool pausedblocks_complete(void);

/* Between these two only the calling thread changes the table, and may call pausedblocks_each. The
 * lock may be held while other threads are stopped. */
void pausedblocks_lock(void);
void pausedblocks_unlock(void);
void pausedblocks_each(void (*visit)(uintptr_t addr, uint64_t size, void *arg), void *arg);

/* To be called in a forked child; `paused`: its thread is in a pause. */
void pausedblocks_after_fork(bool paused);

/* For tests: number of the table's entries that held a block and can serve no other yet. */
uint32_t pausedblocks_gone(void);

#endif
