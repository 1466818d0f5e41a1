/*
 * ownernodes.h: nodes of the trace for whoever has memory: the stack that a row is of, or a part
 * that is no stack's.
 *
 * `known` is what was made before, of one trace; not for two threads at once with the same. The
 * guard is held at GUARD_RECORDING. No malloc.
 */
#ifndef FLAME_PRELOAD_RESIDENT_OWNERNODES_H
#define FLAME_PRELOAD_RESIDENT_OWNERNODES_H

#include "preload/resident/nonheap_parts.h"
#include "preload/runtime/pairs.h"
#include "preload/threads.h"

/* All return 0 where there is no room. `t`: the calling thread. */

/* The node of that kind above `below`, which may be 0; `number` is below 1 << 28. */
uint32_t ownernodes_above(struct pairs *known, struct thread_state *t, uint32_t below,
                          uint32_t number, uint32_t kind);

/* The stack of a row; *thread is whose it is. One that was inherited is its ancestor's to tell. */
uint32_t ownernodes_row(struct pairs *known, struct thread_state *t, uint32_t row,
                        uint16_t *thread);

uint32_t ownernodes_part(struct pairs *known, struct thread_state *t, const struct nonheap_part *p);

#endif
