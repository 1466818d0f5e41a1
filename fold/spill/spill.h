/*
 * spill.h: stacks beyond a bound on memory, kept on disk until they are written.
 *
 * A stackset that has grown to the bound is sorted and put into a file, a run; an empty one goes
 * on. In the end the runs are merged, which gives what one set of all the stacks had given: equal
 * stacks meet there, and their counts are added as exactly.
 *
 * Runs lie in TMPDIR (or /tmp), with mode 0600 and no name: whatever ends the process, nothing
 * stays behind. At most SPILL_RUNS files are open for a level of runs; so many are merged into
 * one of the next. Memory: the bound, and a buffer and a stack for each run that is merged.
 *
 * Functions that return an int return an enum flame_exit with one line on standard error. What
 * went wrong stays in `status`, and is not said again. Not thread-safe.
 */
#ifndef FLAME_FOLD_SPILL_SPILL_H
#define FLAME_FOLD_SPILL_SPILL_H

#include "fold/stacks/filter.h"
#include "fold/stacks/stackset.h"

enum { SPILL_RUNS = 32 };

struct spill_run {
    FILE *f;
    unsigned level; /* how many times what it holds was merged */
};

struct spill {
    uint64_t limit;        /* bytes; 0: none, nothing is put on disk */
    struct filter *filter; /* applied to what goes to disk; borrowed, NULL: none */
    struct spill_run *runs;
    size_t nruns, alloc;
    bool two;   /* some run has two columns */
    int status; /* FLAME_OK until something went wrong */
};

/* About a struct uint64_t limit: --max-memory. */
extern const struct opts_row spill_rows[];

void spill_release(struct spill *s);

/* Whether filters and the bound go together: FLAME_OK, or FLAME_USAGE after a line. */
int spill_check(const struct spill *s, const char *command);

/*
 * Whether a set is to be put on disk. `names_stay`: its names will not go, so that it is not
 * worth while unless the stacks take a good part of it.
 */
bool spill_is_due(const struct spill *s, const struct stackset *st, bool names_stay);
/*
 * Puts *st on disk, filtered, and an empty set in its place; with `names_stay` one that has the
 * same names with the same ids.
 */
int spill_take(struct spill *s, struct stackset **st, bool names_stay);

/* Puts *st on disk if others were before, and leaves one level of runs. To be called last. */
int spill_settle(struct spill *s, struct stackset **st);

/* What stackset_write_file writes, of what is on disk; after spill_settle. */
int spill_write_file(struct spill *s, const struct stackset_heading *heading,
                     enum stackset_sorting sort, const char *path);

#endif
