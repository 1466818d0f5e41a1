/*
 * collapse_load.h: whole files into stacks: folded text, and traces, which are
 * folded first. What merging (flame fold) and comparing (flame diff) share.
 *
 * Functions return an enum flame_exit with one line already on standard error;
 * lines that were not understood are counted in a warning. Not thread-safe.
 */
#ifndef FLAME_FOLD_COLLAPSE_LOAD_H
#define FLAME_FOLD_COLLAPSE_LOAD_H

#include "fold/collapse.h"
#include "fold/fold.h"

struct collapse_load {
    const char *command; /* for messages */
    const struct fold_options *fold;
    struct filter *filter; /* borrowed; NULL: none */
    struct collapse_stacks *stacks;
    struct collapse_count left_out[2]; /* by filters, also those of stages before */
    struct strbuf meta;                /* the "# flame:" line that the files share, or empty */
    int column;                        /* as in struct collapse */
    size_t texts;                      /* files of folded text so far */
    /* Traces so far, folded together by collapse_load_traces. */
    struct trace **traces;
    size_t ntraces;
};

void collapse_load_init(struct collapse_load *l, const char *command,
                        const struct fold_options *fold);
void collapse_load_release(struct collapse_load *l);

/* Reads a file ("-": standard input). A trace is only kept. */
int collapse_load_file(struct collapse_load *l, const char *path);
/* Folds the traces kept and adds what they hold. */
int collapse_load_traces(struct collapse_load *l);

/* Filters what was loaded. */
int collapse_load_filter(struct collapse_load *l, const char *command);

/* Writes what was loaded, under its "# flame:" line, to `path` (NULL: standard output). */
int collapse_load_write(struct collapse_load *l, const char *path);

#endif
