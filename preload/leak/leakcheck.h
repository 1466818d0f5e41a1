/*
 * leakcheck.h: leak check at the end of the process: it finds the live blocks that no pointer leads
 * to.
 *
 * The verdict goes into the trace, as rows marked TRACE_ROW_LEAKED and the like beside the counting
 * rows (common/trace_format.h). The other threads are stopped during the scan.
 */
#ifndef FLAME_PRELOAD_LEAK_LEAKCHECK_H
#define FLAME_PRELOAD_LEAK_LEAKCHECK_H

#include <stdbool.h>

#include "common/compiler.h"

/* Sets whether leaks are checked (option leak=1). To be called when recording starts, before the
 * recorder has mapped anything. */
void leakcheck_set(bool wanted);

/* One load in each hook. Stays false if leaks are not checked. */
extern bool leakcheck_wanted;

/*
 * Scans for leaks, unless this process has done so before, is not recorded, or is a child of vfork.
 * `frame`: the calling thread's stack counts from there upwards, so the registers of the caller's
 * caller must have been saved above it. The guard is held at GUARD_RECORDING.
 */
void leakcheck_now(const void *frame);

/*
 * Scans again after all handlers and destructors have run, and judges only the blocks that were
 * allocated since leakcheck_now. It scans at most once, and only if such a block is live.
 */
void leakcheck_late(const void *frame);

/* To be called in a forked child, which has not scanned yet. */
void leakcheck_after_fork(void);

#endif
