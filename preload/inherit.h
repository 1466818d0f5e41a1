/*
 * inherit.h: what a forked child has of the processes it descends from.
 *
 * The blocks that were live at the fork are known in the child's copy of the shadow map
 * by the ids of rows in its ancestors' traces. The child's own trace names those
 * traces (origins), says once how much of each of their rows was live at the fork, and
 * copies nothing else: no stack, no row. Whoever reads looks the stacks up there.
 *
 * All functions are for the one thread there is at the start of a forked child; none
 * calls malloc.
 */
#ifndef FLAME_PRELOAD_INHERIT_H
#define FLAME_PRELOAD_INHERIT_H

#include <stdbool.h>

#include "common/compiler.h"

/* More generations than this one after another are not told apart: what a process
 * behind them inherits is not recorded. */
#define INHERIT_ORIGINS 64

/* Whether to do any of this (the option inherit=0|1). */
void inherit_set(bool wanted);

/* To be called while store.writer still has the parent's trace: it becomes the newest origin. */
void inherit_note_parent(void);

/*
 * To be called when the child's own trace is there: writes the origins, and what was live,
 * whose sum is put into *bytes (an estimate where blocks are sampled). False: there is no
 * memory, or no room in the trace.
 */
bool inherit_write(uint64_t sample, uint64_t *bytes);

/*
 * The address of the TRACE_NODE_INHERITED that stands for the stack of an inherited row;
 * 0 when what was inherited is not recorded. Any thread may call it at any time.
 */
uint64_t inherit_node_addr(uint32_t row);

#endif
