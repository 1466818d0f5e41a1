/*
 * unhooked_libraries.h: libraries whose calls of the allocator do not come to the recorder.
 *
 * Two kinds: those that dlmopen(3) loaded, which have a C library of their own with heaps of its
 * own, and those that RTLD_DEEPBIND bound to the C library before us. What they allocate is not
 * known, and it may be all that leads to a block; what they free stays known as live.
 */
#ifndef FLAME_PRELOAD_LEAK_UNHOOKED_LIBRARIES_H
#define FLAME_PRELOAD_LEAK_UNHOOKED_LIBRARIES_H

#include <stdbool.h>

#include "common/compiler.h"
#include "common/trace_format.h"

struct unhooked_libraries_range {
    uintptr_t lo, hi;
};

/* Notes which name spaces there are before the program has begun: those of auditors. */
void unhooked_libraries_at_start(void);

/* Looks for such libraries; `libc`: the C library's code. Takes the loader's lock. No malloc. */
void unhooked_libraries_look(struct unhooked_libraries_range libc);

/* Why blocks cannot be judged, by the latest look; TRACE_UNLOOKED_NOT: they can be. */
enum trace_unlooked unhooked_libraries_reason(void);

/* Whether code at `pc` is of a library that only frees past us: what was allocated below it may
 * have been freed. */
bool unhooked_libraries_frees(uintptr_t pc);

#endif
