/*
 * heap_roots.h: scans all memory of a process in which a pointer to a block may lie, while all
 * threads are stopped.
 *
 * Blocks from before the attach are not known, so all memory that is in no known block leads to
 * blocks, and a leak to which a freed block still points is not found. A block that was freed
 * without a hook (by a pointer to free, by a module that had just been opened) is a leak here.
 */
#ifndef FLAME_INJECT_HEAP_ROOTS_H
#define FLAME_INJECT_HEAP_ROOTS_H

#include "inject/agent_state.h"
#include "inject/memory/heap_scan.h"

/* Adds to a scan that has begun. Roots in registers have the number of the thread for an address.
 * `real`: the program's malloc. `program`: an address in the program's own file. */
void heap_roots_scan(struct heap_scan *to, const struct agent_state *g,
                     const struct maps_snapshot *maps, const struct allstop *stop, uintptr_t real,
                     uintptr_t program);

#endif
