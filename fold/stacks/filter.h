/*
 * filter.h: selection of stacks and of their frames: the options that all commands share.
 *
 * The steps, in the order in which they are applied, whatever the order on the command line.
 * REGEX is as in pattern.h, FRAME one that is matched on a frame's name.
 *
 *  --grep REGEX          only stacks whose text, "a;b;c", matches; of several all must
 *  --grep-v REGEX        none whose text matches; of several none may
 *  --focus FRAME         only stacks with such a frame: it, its callers, its callees;
 *                        of several each must have one
 *  --prune FRAME         removes the frames above the lowest such frame; their counts become
 *                        that frame's own
 *  --trim-root=FRAME     removes the frames below the lowest such frame; stacks without
 *                        one stay whole
 *  --by PLACE            each frame becomes its module, file or line (place.h), or stays the
 *                        function that it is; one whose place is not known keeps its name.
 *                        Frames on top of each other that become the same module or file are
 *                        one. `process` makes COMM-PID/TID at the root COMM-PID. `thread`
 *                        and `process` also ask the stages before for such roots
 *  --collapse-recursion  a frame that calls itself is one frame
 *  --trim-root           removes the frames at the root that all remaining stacks share, but
 *                        never the last frame of a stack
 *  --from-caller         the leaf becomes the root, with its callers above it
 *
 * "Above" is towards the leaf, "lowest" next to the root. No step changes a count; the counts of
 * stacks that are filtered out are summed in left_out.
 *
 * A stack is a list of ids of names in a struct stackset. Not thread-safe for one struct filter.
 */
#ifndef FLAME_FOLD_STACKS_FILTER_H
#define FLAME_FOLD_STACKS_FILTER_H

#include "common/options/opts.h"
#include "fold/stacks/stackset.h"
#include "fold/stacks/idmap.h"
#include "fold/stacks/place.h"

enum filter_kind {
    FILTER_GREP,
    FILTER_GREP_V,
    FILTER_FOCUS,
    FILTER_PRUNE,
    FILTER_TRIM_ROOT,
};

/* The options above for a command's tables (common/options/opts.h); they set a struct filter. */
extern const struct opts_row filter_rows[];

struct filter_pattern {
    enum filter_kind kind;
    const char *text; /* borrowed */
    struct pattern *pattern;
};

struct filter {
    struct filter_pattern *patterns;
    size_t npatterns;
    bool active; /* some option was given */
    enum place_kind by;
    bool by_thread, by_process;
    bool modules; /* --modules: a name's module goes before the name, see filter_stacks */
    bool recursion, trim_shared, from_caller;
    /* State while stacks are filtered: */
    signed char *known; /* by name and pattern: does it match? -1: not yet tested */
    size_t nknown;
    struct idmap places; /* by name: the name that --by makes of it, plus one */
    uint32_t *shared;    /* the frames at the root that all stacks kept so far share */
    size_t nshared, shared_alloc;
    bool shared_known;
    const struct filter_pattern *gave_up; /* an expression that failed to match within its
                                             limits, or NULL */
    uint64_t placed, unplaced;            /* frames whose place was known, and not */
    uint64_t kept, dropped;               /* stacks */
    struct stackset_count left_out[2];    /* counts of the stacks dropped, by column */
    struct strbuf text;
};

#define FILTER_INIT                                                                                \
    {                                                                                              \
        .text = STRBUF_INIT                                                                        \
    }

void filter_release(struct filter *f);

/*
 * Applies the steps before --trim-root to one stack, in place. False: it is filtered out, and
 * the caller adds its counts to left_out. May add names.
 */
bool filter_stack(struct filter *f, struct stackset *names, uint32_t *ids, size_t *n);
/* For --trim-root: records the frames that a kept stack shares with the ones before. */
void filter_note_shared(struct filter *f, const uint32_t *ids, size_t n);
/*
 * Applies the steps from --trim-root on, after filter_note_shared for all stacks. Returns the
 * first id. Every reader must take the new leaf for one: empty names go, and one that ends like
 * a count gets a '_' as in folded_add_frame.
 */
uint32_t *filter_finish_stack(const struct filter *f, struct stackset *names, uint32_t *ids,
                              size_t *n);

/*
 * The option --modules, for the tables of commands that write folded text; it sets a struct
 * filter. filter_places returns the places that earlier stages have to add for the filter,
 * PLACE_MODULE if only --modules needs one.
 */
extern const struct opts_row filter_modules_rows[];
enum place_kind filter_places(const struct filter *f);

/*
 * Replaces *stacks (not sorted yet) by the stacks that the filter keeps. With f->modules a name
 * that carries its module behind a mark becomes "MODULE`NAME" (FOLDED_MODULES_PREFIX in
 * common/folded.h).
 */
void filter_stacks(struct filter *f, struct stackset **stacks);
/* Drops what is cached by id: the next stacks have other names, or the same ones with other ids. */
void filter_forget_names(struct filter *f);

/* Forgets the stacks that were filtered so far, and how many were left out: others come. */
void filter_restart(struct filter *f);

/*
 * Call it after filtering: FLAME_OK, or FLAME_USAGE after a line when an expression failed or
 * --by found no place. Warns when no stack is left.
 */
int filter_check(const struct filter *f, const char *command);

#endif
