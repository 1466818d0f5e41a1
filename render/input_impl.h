/*
 * input_impl.h: internals of input.c, which reads files one by one and merges them. input_text.c
 * reads folded text into the tree; input_traces.c folds traces to such text. Only these three
 * include this.
 *
 * Functions return 0, or an enum flame_exit with one line on standard error, if nothing else is
 * said.
 */
#ifndef FLAME_RENDER_INPUT_IMPL_H
#define FLAME_RENDER_INPUT_IMPL_H

#include "common/folded/columns.h"
#include "common/trace/trace_parts.h"
#include "fold/stacks/filter_lines.h"
#include "fold/stacks/textinput.h"
#include "render/frametree_modules.h"
#include "render/input.h"

struct process_tree;
struct tracepool;

/*
 * Traces of memory that are folded together, as they have the same views.
 *
 * Each fold of its own reads the names and lines of its modules anew, and looks for the origins of
 * inherited blocks in all traces beside it: that is quadratic in the number of programs.
 */
struct tracepools {
    struct tracepool **pool;
    size_t n, room;
};

/* One file being read. */
struct reader {
    struct input *in;
    const struct input_options *o;
    struct filter_lines *lines; /* NULL: no filter */
    struct process_tree *tree;  /* NULL: ancestors are not requested */
    const char *name;           /* for messages */
    uint32_t column;            /* the column that counts go to */
    enum module_text modules;   /* how names carry their module */
    struct strbuf stack;        /* room for a stack that has to be rewritten */
    bool columns;               /* counts of different views are kept apart */
    bool timed;                 /* the following counts are of this moment, unless a line says
                                   another */
    double moment;
    uint64_t line, stacks, unknown, first_unknown;
    struct strbuf unknown_text; /* that line, or its beginning */
    struct folded_columns counts;
    struct trace_parts *parts; /* collects parts of recordings; NULL: each part is drawn alone */
    struct tracepools *pools;  /* collects traces of memory; NULL: each is folded alone */
    bool several;              /* other files may have the view if this one lacks it */
    bool lacked;               /* this file lacks it */
    bool unread;               /* it is a trace that was left out */
    bool no_hint;              /* a hint is printed for another file only */
};

/* State for all files. */
struct reading {
    const struct input_options *o;
    struct filter_lines *lines;
    struct process_tree *tree;
    struct trace_parts *parts;
    struct tracepools *pools;
    bool several;   /* files, some of which may lack the view */
    size_t largest; /* the number of the file for which hints are printed */
    size_t lacked;  /* number of files that lack it */
    size_t unread;  /* number of traces that were left out, see load_one_trace */
};

/* Reads folded text to its end. */
int input_read_text(struct reader *r, struct textinput *text);
/* Chooses the column whose view, unit and moment do not contradict the line; a new one where all
 * do. */
int input_use_column(struct reader *r, const char *s, size_t len);
/* Sink of the filter: adds a line that it kept to `input`, a struct input. 0 or -errno. */
int input_take_kept(void *input, const struct folded_line *line, unsigned column);

/* Reads a trace. Parts of recordings and traces for pools are only collected. */
int input_read_trace(struct reader *r, struct textinput *in, const char *path);
/* Folds and reads what was collected, when all files have been read. */
int input_read_pools(struct input *in, const struct reading *all);
int input_read_parts(struct input *in, const struct reading *all, struct trace_parts *parts);
void input_release_pools(struct tracepools *p);

#endif
