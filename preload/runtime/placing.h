/*
 * placing.h: stacks as they stand in a trace.
 *
 * Where several modules have been at one address, the trace has places for them that are no
 * addresses of the process (unwind/modules.h). One for each thread; no locks, no malloc.
 */
#ifndef FLAME_PRELOAD_RUNTIME_PLACING_H
#define FLAME_PRELOAD_RUNTIME_PLACING_H

#include <stdbool.h>

#include "common/compiler.h"

/* All zero at first. */
struct placing {
    struct placing_memory *memory; /* NULL before the first stack that has to be placed */
    uint32_t room;                 /* frames */
};

/*
 * pcs[0..n), of which words that are no addresses of a process stay as they are, becomes what the
 * trace has in their place. Each address that may be another one there is given to `look` first
 * (unwind/modules.h: it may be a module's that is not known yet). The result is *pcs, or valid
 * until the next call. False: no memory.
 */
bool placing_do(struct placing *p, const uintptr_t **pcs, uint32_t n, void (*look)(uintptr_t pc));

void placing_release(struct placing *p);

#endif
