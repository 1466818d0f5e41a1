/*
 * residentrows.h: what a look at resident memory has found, in the trace.
 *
 * The guard is held at GUARD_RECORDING; other threads may run. No malloc.
 */
#ifndef FLAME_PRELOAD_RESIDENT_RESIDENTROWS_H
#define FLAME_PRELOAD_RESIDENT_RESIDENTROWS_H

#include "preload/resident/attribution.h"
#include "preload/threads.h"

/* Puts it in place of what the look before has found. `t`: the calling thread. False: the trace
 * has no room for all of it. */
bool residentrows_write(struct thread_state *t, const struct attribution *a);

/* In a forked child, to whose trace the rows do not belong. */
void residentrows_forget(void);

#endif
