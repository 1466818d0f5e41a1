/*
 * input.h: folded text and traces, from files or standard input, as one tree.
 */
#ifndef FLAME_RENDER_INPUT_H
#define FLAME_RENDER_INPUT_H

#include "common/options/opts.h"
#include "fold/facts/ages.h"
#include "fold/moments.h"
#include "fold/stacks/filter.h"
#include "render/frametree.h"
#include "render/lanes.h"
#include "render/timeline.h"

/* What a "# flame:" line says of the counts below it; NULL where it says nothing. */
struct input_column {
    char *view, *unit;
    bool timed;      /* one of several moments of that view and unit: "time=12.5" */
    double time;     /* seconds, finite */
    char *from, *to; /* when it was counted, as the text says it, "from=2 to=12.5" or "time=12.5";
                        "" or NULL: it does not, or it is of several moments */
    bool used;       /* something was counted or said of it */
    double left_out; /* the sum of the counts that filters left out */
};

struct input {
    struct frametree tree; /* finished */
    char *view, *unit;     /* the first column's, borrowed from it */
    char *sample;          /* mean bytes between samples, as text; NULL: the counts are exact */
    char *empty;           /* "the live view is empty", to be shown; NULL: something was counted */
    bool modules;          /* names know their modules (frametree_module) */
    struct input_column *columns;
    uint32_t ncolumns;        /* at least one */
    struct timeline timeline; /* finished; of no moments unless they were asked for and are there */
    struct lanes lanes;       /* the same */
    struct strbuf regions;    /* comments on how long regions took, a line each */
};

/* How traces are folded; text is folded already, and refuses them. */
struct input_of_traces {
    bool pid, tid, ancestors, idle; /* as in fold_options */
    struct ages ages;
    struct fold_when when;
};

/* Options for them; the destination is a struct input_of_traces, which input_of_traces_release
 * frees what is in. */
extern const struct opts_row input_trace_rows[];
void input_of_traces_release(struct input_of_traces *of);

struct input_options {
    struct input_of_traces *of_traces; /* borrowed, and told which moments were found */
    const char *view; /* which one of traces; NULL: alloc, or all of them with `columns` */
    bool reverse;
    bool keep_order;            /* see frametree_keep_order */
    const char *encoding;       /* of names, as iconv calls it; NULL: UTF-8 */
    struct filter *filter;      /* which stacks, and how much of them; NULL: all */
    const char *command;        /* for messages about the filter */
    bool lines;                 /* of traces: file and line in every name */
    bool by_thread, by_process; /* of traces: frames for them, as with of_traces->tid and pid; text
                                   is taken as it is */
    bool modules;               /* of all: which module each name is in, if the input says */
    bool series;  /* each file is a moment, of those that do not say when the next second */
    bool columns; /* counts of different views and moments are kept apart, in columns
                     of the tree; with false all are added up */
    bool classes; /* of traces with lifetimes: the views sizes, lifetimes and short in columns
                     behind the one asked for */
    bool latency; /* of traces of waiting: the view latency in a column behind the one asked for */
    bool moments; /* what was live over time is wanted, too, and when threads waited */
    bool first_side; /* a comparison whose second counts are all 0 is not empty */
};

/*
 * Reads `paths` ("-": standard input, as with none) and merges what they hold.
 * Traces are folded first. Where nothing was counted, that is a warning. 0, or an enum flame_exit
 * with one line on standard error; lines that were not understood are counted in a warning there.
 * After an error the input is empty, else release it.
 */
int input_read(struct input *in, char *const *paths, size_t npaths, const struct input_options *o);
void input_release(struct input *in);

/*
 * Makes `total` the root's total. If it is less than the sum of the frames, a warning says so
 * and nothing changes. Call it after everything that sums the tree anew.
 */
void input_set_total(struct input *in, double total);

/* "Memory live at 12.5 s", "Memory grown from 2 s to 12.5 s", for the caller to free; NULL: the
 * input is not of one moment, or between two. */
char *input_title(const struct input *in);

/* Appends how much of the first column filters left out: "12.3% left out". False: nothing. */
bool input_say_left_out(const struct input *in, struct strbuf *sb);

#endif
