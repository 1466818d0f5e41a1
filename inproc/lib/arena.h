/*
 * arena.h: the library's own memory in a traced program, in addresses taken once.
 *
 * What is mapped later lies where the kernel likes, and it likes the first hole that fits. Programs
 * know where it would put the next of their own maps, and use that: a stack that grows down
 * (MAP_GROWSDOWN) into addresses that were free a moment ago, a map at a place that was unmapped
 * for it. So all that the library needs later is in a piece that is reserved at its constructor,
 * before the program has any addresses of its own. Nothing of it counts as memory before it is
 * used (PROT_NONE, MAP_NORESERVE): neither to the kernel that promises no more than it has
 * (vm.overcommit_memory 2) nor to RLIMIT_DATA. To RLIMIT_AS it does, so no more
 * than a 32nd of that is taken.
 *
 * It is common/pages.h's place (pages_place). Threads may take and give at once, and so may signal
 * handlers that interrupt them there: there is no lock. What a thread was about to take when
 * another forked is lost to the child.
 */
#ifndef FLAME_INPROC_LIB_ARENA_H
#define FLAME_INPROC_LIB_ARENA_H

#include <stdbool.h>

#include "common/compiler.h"

/* Address space: some hundred threads' (50 KiB each). Whoever needs more asks the kernel. */
#define ARENA_SIZE ((size_t)64 << 20)

/* Reserves it, or as much of it as can be had, down to 1 MiB. False: there is none, and memory
 * comes from the kernel. Once, before there is a second thread. */
bool arena_begin(void);

/* For tests: its first byte, and how many pages are taken now. */
uintptr_t arena_start(void);
size_t arena_taken(void);

#endif
