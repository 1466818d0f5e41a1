/*
 * arena.h: the library's own memory in a traced program, in addresses that are reserved once.
 *
 * The kernel places a later mapping in the first hole that fits. Programs predict where it will
 * place their own next mapping, and rely on that: a stack that grows down (MAP_GROWSDOWN) into
 * addresses that were free a moment ago, or a mapping at a place that was unmapped for it. So all
 * memory that the library needs later is reserved in one piece at its constructor, before the
 * program has any addresses of its own. It does not count as memory before it is used (PROT_NONE,
 * MAP_NORESERVE): neither for a kernel that does not overcommit (vm.overcommit_memory 2) nor for
 * RLIMIT_DATA. It does count for RLIMIT_AS, so at most a 32nd of that is reserved.
 *
 * It is the pages_place of common/pages.h. Threads may allocate and free at once, and so may signal
 * handlers that interrupt them there: there is no lock. If another thread forks during an
 * allocation, the child loses those pages.
 */
#ifndef FLAME_INPROC_LIB_ARENA_H
#define FLAME_INPROC_LIB_ARENA_H

#include <stdbool.h>

#include "common/compiler.h"

/* Address space for some hundred threads (50 KiB each). Beyond it memory comes from the kernel. */
#define ARENA_SIZE ((size_t)64 << 20)

/* Reserves the arena, or as much of it as possible, down to 1 MiB. False: nothing is reserved, and
 * memory comes from the kernel. Call it once, before there is a second thread. */
bool arena_begin(void);

/* For tests: its first byte, and the number of pages that are taken now. */
uintptr_t arena_start(void);
size_t arena_taken(void);

#endif
