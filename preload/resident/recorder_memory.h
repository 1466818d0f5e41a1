/*
 * recorder_memory.h: which addresses are the recorder's own, so that what is resident there is told
 * as its. The kernel makes one mapping of the program's anonymous memory and ours where they meet,
 * so /proc does not tell.
 *
 * The guard is held at GUARD_RECORDING. No malloc.
 */
#ifndef FLAME_PRELOAD_RESIDENT_RECORDER_MEMORY_H
#define FLAME_PRELOAD_RESIDENT_RECORDER_MEMORY_H

#include <stdbool.h>

#include "common/compiler.h"

/* Notes what common/pages.h maps from now on. False: there is no memory. */
bool recorder_memory_begin(void);

/* Until recorder_memory_let_go only the calling thread changes what is noted. To be called before
 * other threads are made to stand. */
void recorder_memory_hold(void);
void recorder_memory_let_go(void);

/* Calls `visit` for each range in the order of addresses, while it is held. */
void recorder_memory_each(void (*visit)(uintptr_t lo, uintptr_t hi, void *arg), void *arg);

/* Whether an address is in it. Any thread; not while it is held. */
bool recorder_memory_has(uintptr_t addr);

/* In a forked child, which has nothing of what is kept from it (pages_keep). */
void recorder_memory_after_fork(void);

#endif
