/*
 * fork_inherit.h: blocks that a forked child inherits from the processes it descends from.
 *
 * The child's copy of the shadow map identifies the blocks that were live at the fork by the ids of
 * rows in its ancestors' traces. The child's own trace names those traces (origins), and says once
 * how much of each of their rows was live at the fork. It copies no stack and no row: the reader
 * looks the stacks up in the ancestors' traces.
 *
 * All functions are for the one thread that exists at the start of a forked child; none calls
 * malloc.
 */
#ifndef FLAME_PRELOAD_FORK_INHERIT_H
#define FLAME_PRELOAD_FORK_INHERIT_H

#include <stdbool.h>

#include "common/compiler.h"

/* Limit of generations of ancestors. Blocks that were inherited through more generations are not
 * recorded. */
#define INHERIT_ORIGINS 64

/* Switches the recording of inherited blocks on or off (the option inherit=0|1). */
void fork_inherit_set(bool wanted);

/* To be called while store.writer still has the parent's trace: the trace becomes the newest
 * origin. */
void fork_inherit_note_parent(void);

/*
 * To be called when the child's own trace exists: writes the origins and the live blocks. *bytes
 * becomes the sum of the blocks' sizes (an estimate if blocks are sampled). False: there is no
 * memory, or no room in the trace.
 */
bool fork_inherit_write(uint64_t sample, uint64_t *bytes);

/*
 * Address of the TRACE_NODE_INHERITED for the stack of an inherited row; 0 if inherited blocks are
 * not recorded. Any thread may call it at any time.
 */
uint64_t fork_inherit_node_addr(uint32_t row);

#endif
