/*
 * leak_coverage.h: which processes of a run have scanned for leaks at their ends, or marked passes.
 */
#ifndef FLAME_DRIVER_LEAK_LEAK_COVERAGE_H
#define FLAME_DRIVER_LEAK_LEAK_COVERAGE_H

#include "driver/monitor/run_totals.h"

/* Reason why a process did not scan, if no other is known. */
#define LEAK_NOT_LOOKED "did not come to exit, may not be looked at, or cannot be as a whole"

struct leak_coverage {
    const struct run_totals_process **seen, **unseen; /* each process once; taken's */
    size_t nseen, nunseen;
    bool growth;
};

/* A process that executed another program counts once: it is checked if any of its programs has
 * scanned, and has the name of the last. With `growth`, processes are checked if their passes could
 * be compared. */
void leak_coverage_make(struct leak_coverage *s, const struct run_totals *k, bool growth);
void leak_coverage_release(struct leak_coverage *s);

/* Reason why it has not scanned: "did not come to exit...", "of which...". Static. */
const char *leak_coverage_why(const struct run_totals_process *p);

/* Prints one line with the checked processes and one with the unchecked; or the latter alone. */
void leak_coverage_print(const struct leak_coverage *s);
void leak_coverage_print_unseen(const struct leak_coverage *s);

#endif
