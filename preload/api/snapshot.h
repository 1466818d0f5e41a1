/*
 * snapshot.h: copies the present trace to a file of its own.
 *
 * The recording continues meanwhile, in other threads, too. Each counter is whole; what other
 * threads do during the copy may be in it or not. One copy is made at a time. The guard is held at
 * GUARD_RECORDING. No malloc.
 */
#ifndef FLAME_PRELOAD_API_SNAPSHOT_H
#define FLAME_PRELOAD_API_SNAPSHOT_H

#include <stdbool.h>

#include "preload/runtime/config.h"

/* Borrows `config` for good. */
void snapshot_set(const struct config *config);

/* False: there is no copy, because none was requested or its file cannot be written. `frame`: as in
 * heap_scan_around. */
bool snapshot_make(const char *name, const void *frame);

/* In a forked child. */
void snapshot_after_fork(void);

#endif
