/*
 * leakcheck.h: at the end of a process, which of the live blocks nothing leads to any more.
 *
 * The verdict is written into the trace: rows marked TRACE_ROW_LEAKED and their like, beside
 * those that count (common/trace_format.h). Other threads stand for as long as the look
 * takes.
 */
#ifndef FLAME_PRELOAD_LEAK_LEAKCHECK_H
#define FLAME_PRELOAD_LEAK_LEAKCHECK_H

#include <stdbool.h>

#include "common/compiler.h"

/* Whether this is wanted: the option leak=1. Called when recording starts, before the
 * recorder has mapped anything. */
void leakcheck_set(bool wanted);

/* One load; false for ever where it is not wanted. */
extern bool leakcheck_wanted;

/*
 * Looks, unless this process has looked before, is not recorded, or is a child of vfork.
 * `frame`: what lies above it on the calling thread's stack counts, so the caller's caller's
 * registers must have been saved there. The guard is held at GUARD_RECORDING.
 */
void leakcheck_now(const void *frame);

/*
 * Looks again, when all handlers and destructors have run: for what was allocated since
 * leakcheck_now, and for nothing else. No more than once, and only if something of that is live.
 */
void leakcheck_late(const void *frame);

/* To be called in a forked child, which has not looked yet. */
void leakcheck_after_fork(void);

#endif
