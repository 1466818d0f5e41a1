/*
 * unhooked_libraries.h: detects libraries whose calls of the allocator do not reach the recorder.
 *
 * There are two kinds. Libraries that dlmopen(3) loaded use a C library and heaps of their own.
 * Libraries that were opened with RTLD_DEEPBIND are bound to the C library instead of the hooks.
 * Blocks that they allocate are unknown and may hold the only pointer to another block. Blocks that
 * they free still count as live.
 */
#ifndef FLAME_PRELOAD_LEAK_UNHOOKED_LIBRARIES_H
#define FLAME_PRELOAD_LEAK_UNHOOKED_LIBRARIES_H

#include <stdbool.h>

#include "common/compiler.h"
#include "common/trace_format.h"

struct unhooked_libraries_range {
    uintptr_t lo, hi;
};

/* Counts the name spaces that exist before the program has begun: those of auditors. */
void unhooked_libraries_at_start(void);

/* Searches for such libraries. `libc`: the C library's code. Takes the loader's lock. No malloc. */
void unhooked_libraries_look(struct unhooked_libraries_range libc);

/* Reason, from the latest search, why blocks cannot be judged. TRACE_UNLOOKED_NOT: they can be. */
enum trace_unlooked unhooked_libraries_reason(void);

/* Whether the code at `pc` belongs to a library whose frees bypass the hooks, while its allocations
 * do not. Blocks that were allocated in calls of such a library may have been freed. */
bool unhooked_libraries_frees(uintptr_t pc);

#endif
