/*
 * residentrows.h: rows of the trace with the results of a scan of resident memory.
 *
 * The guard is held at GUARD_RECORDING; other threads may run. No malloc.
 */
#ifndef FLAME_PRELOAD_RESIDENT_RESIDENTROWS_H
#define FLAME_PRELOAD_RESIDENT_RESIDENTROWS_H

#include "preload/resident/attribution.h"
#include "preload/threads.h"

/* Replaces the results of the last scan. `t`: the calling thread. False: the trace has no room
 * for all rows. */
bool residentrows_write(struct thread_state *t, const struct attribution *a);

/* To be called in a forked child, whose trace does not have the rows. */
void residentrows_forget(void);

#endif
