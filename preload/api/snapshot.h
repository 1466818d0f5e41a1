/*
 * snapshot.h: the trace as it is now, in a file of its own.
 *
 * The recording goes on meanwhile, in other threads too: each counter is whole, and what other
 * threads do while the copy is made is in it or not. One copy at a time is made. The guard is
 * held at GUARD_RECORDING. No malloc.
 */
#ifndef FLAME_PRELOAD_API_SNAPSHOT_H
#define FLAME_PRELOAD_API_SNAPSHOT_H

#include <stdbool.h>

#include "preload/runtime/config.h"

/* `config` is borrowed for good. */
void snapshot_set(const struct config *config);

/* False: there is no copy, as none is wanted or its file cannot be written. */
bool snapshot_make(const char *name);

/* In a forked child. */
void snapshot_after_fork(void);

#endif
