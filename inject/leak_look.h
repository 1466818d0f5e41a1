/*
 * leak_look.h: which of the blocks that the agent knows can still be reached, found from outside
 * while all threads are stopped.
 *
 * Blocks from before the attach are not known, so all memory that is in no known block
 * leads to blocks, and a leak to which a freed block still points is not found. A block that was
 * freed without a hook (by a pointer to free, by a module that had just been opened) is a leak
 * here.
 */
#ifndef FLAME_INJECT_LEAK_LOOK_H
#define FLAME_INJECT_LEAK_LOOK_H

#include "inject/agent_blocks.h"
#include "inject/agent_state.h"

/* Adds the verdicts to the trace, which has all stacks of the agent. `real`: the program's malloc.
 * `program`: an address in the program's own file. *scanned becomes the number of bytes that were
 * searched for pointers. */
void leak_look(struct agent_trace *t, const struct agent_state *g, const struct procmem *m,
               const struct maps_snapshot *maps, const struct allstop *stop, uintptr_t real,
               uintptr_t program, const struct agent_blocks *blocks, uint64_t *scanned);

#endif
