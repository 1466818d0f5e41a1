/*
 * runsummary.h: the few lines at the end of a run.
 *
 * Sums are over all processes of the run, without a forked child's copies of its parent's
 * blocks. Lines go to standard error, each in one write.
 */
#ifndef FLAME_DRIVER_RUN_RUNSUMMARY_H
#define FLAME_DRIVER_RUN_RUNSUMMARY_H

#include "common/strbuf.h"
#include "driver/run/recording.h"

struct run_summary {
    struct taken_totals t;
    uint64_t peak_bytes;              /* of the largest process, in what it allocated itself */
    const struct taken_process *peak; /* that process */
    uint64_t peak_at_once;            /* at most, of all processes together; 0: not known */
    uint64_t stacks;                  /* distinct */
    uint64_t processes; /* distinct pids: one that executes another program stays itself */
    uint64_t others;    /* processes that left no trace, as far as is known */
};

void run_summary_make(struct run_summary *s, const struct recording *r);

/* What was allocated, and what recording cost. */
void run_summary_print(const struct run_summary *s, const struct recording *r);

/* That cost as it is told: as not known where it is not, or is more than `threads` can have spent
 * in a run of `run_ns` (a clock was not to be had, or was another one). */
void run_summary_add_cost(struct strbuf *sb, uint64_t cost_ns, uint64_t threads, uint64_t run_ns);

/* Names the processes that are not in the recording, and those that are and go on, if there
 * are any. */
void run_summary_print_others(const struct recording *r);

#endif
