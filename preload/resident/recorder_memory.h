/*
 * recorder_memory.h: address ranges of the recorder's own memory, so that its resident pages are
 * reported as the recorder's. /proc cannot distinguish them, because the kernel merges adjacent
 * anonymous mappings of the program and the recorder.
 *
 * The guard is held at GUARD_RECORDING. No malloc.
 */
#ifndef FLAME_PRELOAD_RESIDENT_RECORDER_MEMORY_H
#define FLAME_PRELOAD_RESIDENT_RECORDER_MEMORY_H

#include <stdbool.h>

#include "common/compiler.h"

/* Records the mappings that common/pages.h makes from now on. False: there is no memory. */
bool recorder_memory_begin(void);

/* Until recorder_memory_let_go only the calling thread changes the list. To be called before other
 * threads are stopped. */
void recorder_memory_hold(void);
void recorder_memory_let_go(void);

/* Calls `visit` for each range in the order of addresses. The calling thread holds the list. */
void recorder_memory_each(void (*visit)(uintptr_t lo, uintptr_t hi, void *arg), void *arg);

/* Whether the address is in a range. Any thread; not while the list is held. */
bool recorder_memory_has(uintptr_t addr);

/* To be called in a forked child, which lacks the memory that is not copied to children
 * (pages_keep). */
void recorder_memory_after_fork(void);

#endif
