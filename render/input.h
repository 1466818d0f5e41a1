/*
 * input.h: folded text and traces, from files or standard input, as one tree.
 */
#ifndef FLAME_RENDER_INPUT_H
#define FLAME_RENDER_INPUT_H

#include "common/options/opts.h"
#include "fold/analysis/age_limits.h"
#include "fold/moments.h"
#include "fold/stacks/filter.h"
#include "render/frametree.h"
#include "render/lanes.h"
#include "render/timeline.h"

/* Properties of the counts below a "# flame:" line; NULL where it has none. */
struct input_column {
    char *view, *unit;
    bool timed;      /* one of several moments of that view and unit: "time=12.5" */
    double time;     /* seconds, finite */
    char *from, *to; /* its moment or range, as the text has it, "from=2 to=12.5" or "time=12.5";
                        "" or NULL: the text has none, or the column is of several moments */
    bool used;       /* a count or a property was read into it */
    double left_out; /* the sum of the counts that were filtered out */
};

struct input {
    struct frametree tree; /* finished */
    char *view, *unit;     /* the first column's, borrowed from it */
    char *sample;          /* mean bytes between samples, as text; NULL: the counts are exact */
    char *empty;           /* message, "the live view is empty"; NULL: something was counted */
    bool modules;          /* names know their modules (frametree_module) */
    struct input_column *columns;
    uint32_t ncolumns;        /* at least one */
    struct timeline timeline; /* finished; without moments unless requested and there */
    struct lanes lanes;       /* finished; empty unless requested and there */
    struct strbuf regions;    /* comments about the lengths of regions, a line each */
};

/* Options for folding traces; a folded text refuses them. */
struct input_of_traces {
    bool pid, tid, ancestors, idle; /* as in fold_options */
    struct age_limits ages;
    struct fold_when when;
};

/* Command-line options that set a struct input_of_traces; input_of_traces_release frees its
 * content. */
extern const struct opts_row input_trace_rows[];
void input_of_traces_release(struct input_of_traces *of);

struct input_options {
    struct input_of_traces *of_traces; /* borrowed; gets the moments that were found */
    const char *view; /* the view of traces; NULL: alloc, or all of them with `columns` */
    bool reverse;
    bool keep_order;            /* see frametree_keep_order */
    const char *encoding;       /* of names, as iconv calls it; NULL: UTF-8 */
    struct filter *filter;      /* selection of stacks and frames; NULL: all */
    const char *command;        /* for messages about the filter */
    bool lines;                 /* for traces: file and line in every name */
    bool by_thread, by_process; /* for traces: frames for them, as with of_traces->tid and pid;
                                   text is taken as it is */
    bool modules;               /* keep the module of each name, if the input has it */
    bool series;  /* each file is a moment; one without a time is a second after the one before */
    bool columns; /* counts of different views and moments are kept apart, in columns
                     of the tree; with false all are added up */
    bool classes; /* for traces with lifetimes: the views sizes, lifetimes and short in columns
                     behind the requested one */
    bool latency; /* for traces of waiting: the view latency in a column behind the requested one */
    bool moments; /* also read live memory over time, and threads' waits */
    bool waits;   /* read threads' waits, with room for those of a file for other viewers */
    bool memory_has_one; /* with `columns`: of traces of memory read the default view alone */
    bool first_side;     /* a comparison whose second counts are all 0 is not empty */
};

/*
 * Reads `paths` ("-": standard input, as with none) and merges what they hold. Traces are folded
 * first. An input without counts is a warning. 0, or an enum flame_exit with one line on
 * standard error; lines that were not understood are counted in a warning there. After an error
 * the input is empty, else release it.
 */
int input_read(struct input *in, char *const *paths, size_t npaths, const struct input_options *o);
void input_release(struct input *in);

/*
 * Makes `total` the root's total. If it is less than the sum of the frames, a warning says so
 * and nothing changes. Call it after everything that sums the tree anew.
 */
void input_set_total(struct input *in, double total);

/* "Memory live at 12.5 s", "Memory grown from 2 s to 12.5 s", for the caller to free; NULL: the
 * input has no single moment or range. */
char *input_title(const struct input *in);

/* Appends the filtered-out share of the first column: "12.3% left out". False: nothing was
 * left out. */
bool input_say_left_out(const struct input *in, struct strbuf *sb);

#endif
