/*
 * inproc_stacks.h: stacks that threads took of themselves, by number, until they are asked for.
 *
 * Most are asked for as nodes of the trace at once and often, some never. A stack belongs to the
 * thread that took it and goes with it.
 *
 * Not thread-safe. Allocates.
 */
#ifndef FLAME_TRACER_STACKS_INPROC_STACKS_H
#define FLAME_TRACER_STACKS_INPROC_STACKS_H

#include "tracer/stacks/capture.h"

struct given;

struct given *given_new(struct stacks *s);
void given_free(struct given *g);

/* Keeps a stack of the thread: its number, never 0. Return addresses, outermost first. */
uint32_t given_add(struct given *g, pid_t tid, const uint64_t *pcs, size_t n);

/* The stack as a node under the root of trace thread `thread`, as stacks_capture gives it; 0: there
 * is no such stack, or it has no node. */
uint32_t given_node(struct given *g, uint32_t id, struct space *sp, pid_t tid, uint16_t thread);

/* The thread has ended, or runs another program: its stacks are forgotten. */
void given_drop(struct given *g, pid_t tid);

#endif
