/*
 * load.h: reads whole files into stacks: folded text, and traces, which are
 * folded first. Merging (flame fold) and comparing (flame diff) share it.
 *
 * Functions return an enum flame_exit with one line already on standard error;
 * lines that were not understood are counted in a warning. Not thread-safe.
 */
#ifndef FLAME_FOLD_LOAD_H
#define FLAME_FOLD_LOAD_H

#include "common/trace/trace_parts.h"
#include "fold/collapse/collapse.h"
#include "fold/fold.h"
#include "fold/tracesums.h"

struct load {
    const char *command; /* for messages */
    const struct fold_options *fold;
    struct filter *filter; /* borrowed; NULL: none */
    struct spill spill;    /* its limit is the caller's to set */
    struct stackset *stacks;
    struct stackset_count left_out[2]; /* filtered out, also by earlier stages */
    struct missing_symbols lost[2];    /* modules without their names, of either column */
    bool modules[2];                   /* whether names begin with their modules, of either */
    struct strbuf meta;                /* the "# flame:" line that the files share, or empty */
    int column;                        /* as in struct collapse */
    size_t texts;                      /* files of folded text so far */
    size_t missing;                    /* traces that were not there (recordingset.h) */
    size_t unread;                     /* traces that were left out so far, see load_one_trace */
    struct tracesums *traces; /* sums of the traces read so far, for load_traces; NULL: none */
    struct trace_parts parts; /* of recordings, to be joined */
};

void load_init(struct load *l, const char *command, const struct fold_options *fold);
void load_release(struct load *l);

/* Whether an input that was just opened begins as a trace does. */
bool load_is_trace(struct textinput *in);
/* Reads such an input, which was opened from `path`, into *out, for the caller to free; or an
 * enum flame_exit after a line. */
int load_trace(struct textinput *in, const char *path, struct trace **out);

/* Like load_trace. With `several` files being read, one of the traces in a file of several that
 * cannot be read costs itself only: a line says so, and *out is NULL. */
int load_one_trace(struct textinput *in, const char *path, bool several, struct trace **out);

/* Which traces of a recording are read (recordingset.h) for a view; for none, with options that
 * only traces of waiting or of memory have; else those of the first one's recorder. */
uint32_t load_recorder(const char *view, bool of_waits, bool of_memory);

/* Adds the process of a trace file to the tree, for its descendants; only if the file can be
 * read twice. 0, or an enum flame_exit after a line. */
int load_process(struct process_tree *tree, const char *path);

/* Reads a file ("-": standard input). Traces are only added up. */
int load_file(struct load *l, const char *path);
/* Adds up the counts of the parts of recordings so far, as traces; call it when all parts are
 * there. */
int load_parts(struct load *l);
/* Calls load_parts, folds the traces so far and adds their stacks. */
int load_traces(struct load *l);

/* Filters what was loaded, and merges it with the stacks on disk. */
int load_filter(struct load *l, const char *command);

/* Writes what was loaded, under its "# flame:" line, to `path` (NULL: standard output). */
int load_write(struct load *l, const char *path);

#endif
