/*
 * leak_coverage.h: which processes of a run have looked for leaks at their ends, or marked passes.
 */
#ifndef FLAME_DRIVER_LEAK_LEAK_COVERAGE_H
#define FLAME_DRIVER_LEAK_LEAK_COVERAGE_H

#include "driver/monitor/run_totals.h"

/* Why a process may not have looked, if no more is known. */
#define LEAK_NOT_LOOKED "did not come to exit, may not be looked at, or cannot be as a whole"

struct leak_coverage {
    const struct run_totals_process **seen, **unseen; /* each process once; taken's */
    size_t nseen, nunseen;
    bool growth;
};

/* A process that executed another program went on as that: it has looked if any of its
 * programs has, and goes by the last. With `growth` those have looked whose passes could be
 * compared. */
void leak_coverage_make(struct leak_coverage *s, const struct run_totals *k, bool growth);
void leak_coverage_release(struct leak_coverage *s);

/* Why it has not looked: "did not come to exit...", "of which...". Static. */
const char *leak_coverage_why(const struct run_totals_process *p);

/* Says in a line each which have and which have not; or the latter alone. */
void leak_coverage_print(const struct leak_coverage *s);
void leak_coverage_print_unseen(const struct leak_coverage *s);

#endif
