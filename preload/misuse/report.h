/*
 * report.h: misuses in the trace, one record for each distinct misuse.
 *
 * The record is complete in the trace when report_misuse returns, so it is not lost if the
 * allocator then aborts. Thread-safe, with the guard at GUARD_RECORDING. No malloc.
 */
#ifndef FLAME_PRELOAD_MISUSE_REPORT_H
#define FLAME_PRELOAD_MISUSE_REPORT_H

#include "preload/threads.h"

/* Rows whose stacks are reported; 0: none. Rows of a forked child's parent are not reported. */
struct report_rows {
    uint32_t call, alloc, free;
};

/* Adds the misuse, or counts it in an equal record. `t` is the calling thread's state. The caller
 * fills in *m except for the count, the nodes, and the thread. */
void report_misuse(struct thread_state *t, struct trace_misuse *m, struct report_rows rows);

/* To be called in a forked child, whose trace has no records. */
void report_after_fork(void);

#endif
