/*
 * ownernodes.h: nodes of the trace for owners of memory: the stack of a row, or a part that belongs
 * to no stack.
 *
 * `known`: nodes that were made before, in one trace; two threads must not use the same table at
 * once. The guard is held at GUARD_RECORDING. No malloc.
 */
#ifndef FLAME_PRELOAD_RESIDENT_OWNERNODES_H
#define FLAME_PRELOAD_RESIDENT_OWNERNODES_H

#include "preload/resident/nonheap_parts.h"
#include "preload/runtime/pairs.h"
#include "preload/threads.h"

/* All functions return 0 if there is no room. `t`: the calling thread. */

/* The node of that kind above `below`, which may be 0; `number` is below 1 << 28. */
uint32_t ownernodes_above(struct pairs *known, struct thread_state *t, uint32_t below,
                          uint32_t number, uint32_t kind);

/* The node of a row's stack; *thread becomes its thread. For an inherited row the node refers to
 * the ancestor's stack. */
uint32_t ownernodes_row(struct pairs *known, struct thread_state *t, uint32_t row,
                        uint16_t *thread);

uint32_t ownernodes_part(struct pairs *known, struct thread_state *t, const struct nonheap_part *p);

#endif
