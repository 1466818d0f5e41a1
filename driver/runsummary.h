/*
 * runsummary.h: the few lines at the end of a run.
 *
 * Sums are over all processes of the run. Lines go to standard error, each in one
 * write.
 */
#ifndef FLAME_DRIVER_RUNSUMMARY_H
#define FLAME_DRIVER_RUNSUMMARY_H

#include "driver/recording.h"

struct run_summary {
    uint64_t alloc_bytes, alloc_calls;
    uint64_t live_bytes, live_blocks; /* without a forked child's copies of its parent's */
    uint64_t peak_bytes;              /* sum of the processes' own peaks */
    uint64_t stacks;                  /* distinct in each process and thread */
    uint64_t threads;
    uint64_t processes; /* distinct pids: one that executes another program stays itself */
    uint64_t cost_ns;   /* estimate of the time spent in the recorder, all threads together */
    uint64_t skipped, lost_calls, lost_bytes, lost_frees;
    uint64_t fallback_stacks; /* walked by libunwind, not by rules */
    uint64_t sample;          /* mean bytes between samples; 0: exact */
};

void run_summary_make(struct run_summary *s, const struct recording *r);

/* What was allocated, and what recording cost. */
void run_summary_print(const struct run_summary *s, const struct recording *r);

/* Appends "1 block", "1,234 blocks". */
void run_summary_add_count(struct strbuf *sb, uint64_t n, const char *one, const char *many);

#endif
