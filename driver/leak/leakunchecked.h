/*
 * leakunchecked.h: processes of a run that `flame leak` has not checked: those that were not
 * recorded, and recorded ones that did not scan for leaks. If no leak was found, their status is
 * unknown, not leak-free.
 */
#ifndef FLAME_DRIVER_LEAK_LEAKUNCHECKED_H
#define FLAME_DRIVER_LEAK_LEAKUNCHECKED_H

#include "common/strbuf.h"
#include "driver/rundir/unrecorded.h"
#include "driver/leak/leak_coverage.h"

struct leak_unchecked {
    bool command;      /* the command itself was not checked */
    bool others;       /* another process was not checked, and no option allows that */
    struct strbuf who; /* processes not checked, and why, for people; "": all were checked */
};

/*
 * Finds the processes that were not checked. `pid` is the command's. With `look` these are also the
 * recorded processes that have not scanned for leaks. Without it the report is of live blocks or
 * growth, which needs no scan, and every recorded process counts as checked. Release it.
 */
void leak_unchecked_find(struct leak_unchecked *u, const struct unrecorded *others,
                         const struct leak_coverage *looks, bool look, uint32_t pid);
void leak_unchecked_release(struct leak_unchecked *u);

#endif
