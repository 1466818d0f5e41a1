/*
 * spill.h: stacks beyond a bound on memory, kept on disk until they are written.
 *
 * A stackset that has grown to the bound is sorted and put into a file, a run; an empty one
 * takes its place. At the end the runs are merged, with the result that one set of all the
 * stacks would have given: equal stacks meet there, and their counts are added as exactly.
 *
 * Runs lie in TMPDIR (or /tmp), with mode 0600 and no name, so that no file is left however the
 * process ends. At most SPILL_RUNS files are open for a level of runs; so many are merged into
 * one of the next. Memory: the bound, and a buffer and a stack for each run that is merged.
 *
 * Functions that return an int return an enum flame_exit with one line on standard error. The
 * first failure stays in `status`, and is not reported again. Not thread-safe.
 */
#ifndef FLAME_FOLD_SPILL_SPILL_H
#define FLAME_FOLD_SPILL_SPILL_H

#include "fold/stacks/filter.h"
#include "fold/stacks/stackset.h"

enum { SPILL_RUNS = 32 };

struct spill_run {
    FILE *f;
    unsigned level; /* how many times its stacks were merged */
};

struct spill {
    uint64_t limit;        /* bytes; 0: none, nothing is put on disk */
    struct filter *filter; /* applied to stacks that go to disk; borrowed, NULL: none */
    struct spill_run *runs;
    size_t nruns, alloc;
    bool two;   /* some run has two columns */
    int status; /* FLAME_OK until a failure */
};

/* The option --max-memory; it sets a uint64_t, `limit`. */
extern const struct opts_row spill_rows[];

void spill_release(struct spill *s);

/* Whether the filters can be applied with the bound: FLAME_OK, or FLAME_USAGE after a line. */
int spill_check(const struct spill *s, const char *command);

/*
 * Whether a set is large enough to be put on disk. `names_stay`: its names stay in memory, so it
 * is only worth while if the stacks take a good part of it.
 */
bool spill_is_due(const struct spill *s, const struct stackset *st, bool names_stay);
/*
 * Puts *st on disk, filtered, and replaces it by an empty set; with `names_stay` by one that has
 * the same names with the same ids.
 */
int spill_take(struct spill *s, struct stackset **st, bool names_stay);

/* Puts *st on disk if other sets were before, and leaves one level of runs. Call it last. */
int spill_settle(struct spill *s, struct stackset **st);

/* Like stackset_write_file, for the stacks on disk. Call it after spill_settle. */
int spill_write_file(struct spill *s, const struct stackset_heading *heading,
                     enum stackset_sorting sort, const char *path);

#endif
