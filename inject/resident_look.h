/*
 * resident_look.h: owners of a process's resident memory, found from outside while all threads are
 * stopped: the stacks of blocks that the agent knows, the program, its libraries, stacks, the agent
 * itself, other mappings. The rules are those of preload/resident/attribution.h.
 *
 * Blocks from before the attach are not known, nor is what the program has mapped, so both belong
 * to their mappings, as free memory does. Slack is not known for that reason.
 */
#ifndef FLAME_INJECT_RESIDENT_LOOK_H
#define FLAME_INJECT_RESIDENT_LOOK_H

#include "inject/memory/agent_blocks.h"
#include "inject/agent_state.h"
#include "inject/attachment.h"

/* Adds the owners to the trace, which has all stacks of the agent. `program`: an address in the
 * first page of the program's file. False: the pages cannot be read. */
bool resident_look(struct agent_trace *t, const struct agent_state *g, const struct procmem *m,
                   const struct linkmap *link, const struct allstop *stop, uintptr_t program,
                   const struct agent_blocks *blocks, struct resident_sum *sum);

#endif
