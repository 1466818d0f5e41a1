/*
 * placing.h: replaces the addresses of a stack by those of the trace.
 *
 * If several modules have been at one address, the trace has a range for each of them that is not
 * an address of the process (unwind/modules.h). One struct for each thread; no locks, no malloc.
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
 * Replaces the addresses in pcs[0..n) by the trace's. Words that are no addresses of a process stay
 * as they are. Each address that may differ in the trace is first passed to `look`, because it may
 * belong to a module that is not known yet (unwind/modules.h). The result is *pcs itself, or an
 * array that is valid until the next call. False: no memory.
 */
bool placing_do(struct placing *p, const uintptr_t **pcs, uint32_t n, void (*look)(uintptr_t pc));

void placing_release(struct placing *p);

#endif
