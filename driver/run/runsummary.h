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
    struct run_totals_sums t;
    uint64_t peak_bytes;                   /* of the largest process: its own blocks, without
                                            * inherited ones */
    const struct run_totals_process *peak; /* that process */
    uint64_t peak_at_once;                 /* at most, of all processes together; 0: not known */
    uint64_t stacks;                       /* distinct */
    uint64_t processes; /* distinct pids: a process that executes another program counts once */
    uint64_t others;    /* processes that left no trace, as far as is known */
};

void run_summary_make(struct run_summary *s, const struct recording *r);

/* Prints the allocated memory and the cost of recording. */
void run_summary_print(const struct run_summary *s, const struct recording *r);

/* Appends the cost for people. "Not known" is printed if there is no clock, or if the cost is
 * more than `threads` can have spent in a run of `run_ns` (another clock). */
void run_summary_add_cost(struct strbuf *sb, uint64_t cost_ns, uint64_t threads, uint64_t run_ns);

/* Prints the processes that are not in the recording, and the recorded ones that still run, if
 * there are any. */
void run_summary_print_others(const struct recording *r);

/* Prints which Python interpreters' functions have no names, if there are any. */
void run_summary_print_unnamed_python(const struct run_totals *k);

#endif
