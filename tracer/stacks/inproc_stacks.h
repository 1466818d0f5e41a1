/*
 * inproc_stacks.h: stacks that threads logged themselves, by number, until their nodes are needed.
 *
 * For most the node is needed at once and often, for some never. A stack belongs to the thread that
 * logged it and is freed with it.
 *
 * Not thread-safe. Allocates.
 */
#ifndef FLAME_TRACER_STACKS_INPROC_STACKS_H
#define FLAME_TRACER_STACKS_INPROC_STACKS_H

#include "tracer/stacks/capture.h"

struct inproc_stacks;

struct inproc_stacks *inproc_stacks_new(struct stacks *s);
void inproc_stacks_free(struct inproc_stacks *g);

/* Stores a stack of the thread and returns its number, never 0. Return addresses, outermost first.
 */
uint32_t inproc_stacks_add(struct inproc_stacks *g, pid_t tid, const uint64_t *pcs, size_t n);

/* The stack as a node under the root of trace thread `thread`, as stacks_capture returns it; 0:
 * there is no such stack, or it has no node. */
uint32_t inproc_stacks_node(struct inproc_stacks *g, uint32_t id, struct space *sp, pid_t tid,
                            uint16_t thread);

/* The thread has ended, or runs another program: its stacks are freed. */
void inproc_stacks_drop(struct inproc_stacks *g, pid_t tid);

#endif
