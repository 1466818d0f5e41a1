/*
 * report.h: misuses in the trace, one record for each way in which one was made.
 *
 * Complete in the trace when report_misuse returns, so that what the allocator does about it,
 * and be it abort, comes after. Thread-safe, with the guard at GUARD_RECORDING. No malloc.
 */
#ifndef FLAME_PRELOAD_MISUSE_REPORT_H
#define FLAME_PRELOAD_MISUSE_REPORT_H

#include "preload/threads.h"

/* Rows whose stacks are told; 0: none. Of a forked child's parent they are not. */
struct report_rows {
    uint32_t call, alloc, free;
};

/* Adds it, or one to the count of the one that is like it. `t` is the calling thread's; *m is
 * filled in but for the count, nodes, and the thread. */
void report_misuse(struct thread_state *t, struct trace_misuse *m, struct report_rows rows);

/* In a forked child, whose trace has none. */
void report_after_fork(void);

#endif
