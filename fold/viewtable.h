/*
 * viewtable.h: the views of traces: the questions that a trace answers. Each recorder has a
 * table with one row for each view. (render/views.h has the names of views in pictures.)
 */
#ifndef FLAME_FOLD_VIEWTABLE_H
#define FLAME_FOLD_VIEWTABLE_H

#include "common/options/opts.h"
#include "common/strbuf.h"
#include "common/trace/trace_reader.h"

/* The way from a row's node to a stack. Wakers are the links (TRACE_NODE_WAKER) above the
 * sleeper's own stack. Traces of memory have none, and their views are of one of the first two
 * shapes. */
enum view_shape {
    VIEW_STACK, /* the stack itself */
    VIEW_CLASS, /* the stack with a frame for the class on it: of sizes, lifetimes or sleeps */
    VIEW_WAKER, /* the first waker's stack, with a frame for the sleeper's name on it */
    VIEW_STACK_WAKER, /* the stack, "--", the first waker's stack from its leaf to its root */
    VIEW_CHAIN,       /* like VIEW_STACK_WAKER, with every waker */
};

/* A distinction of a row's stack from others of its thread in one view. */
enum view_part {
    VIEW_PLAIN,
    VIEW_RUNNING, /* on a frame "[running]" next to the root */
    VIEW_DISK,    /* on "[disk files]" */
    VIEW_NETWORK, /* on "[network]" */
    VIEW_COLD,    /* each frame but the root is marked _[o] */
};

struct view {
    const char *name; /* what --view takes */
    const char *what; /* what it counts, for help texts */
    const char *unit; /* "bytes", "calls", "us" */
    uint32_t recorder;
    uint32_t scale; /* `value` counts in 1/scale of the unit; a stack's sum is rounded once */
    enum view_shape shape;
    /* A row's share; shares of one stack are summed modulo 2^64. */
    int64_t (*value)(const struct trace *t, const struct trace_row *r);
    enum view_part (*part)(const struct trace_row *r); /* NULL: VIEW_PLAIN */
    uint32_t feature; /* enum trace_feature that a trace must have; 0: any has the view */
    bool sampled;     /* of running threads too, which are recorded with `flame off --hz` only */
};

/* A table has at most so many rows, and behind them one whose name is NULL. */
#define VIEWS_MAX 24
extern const struct view mem_views[], off_views[];

/* The views of a recorder's traces, the default first; NULL for an unknown recorder. */
const struct view *views_of(uint32_t recorder);

/* NULL when there is no such view. */
const struct view *view_find(const char *name);
/* Appends "alloc, count, ...": of a recorder. */
void view_list(struct strbuf *sb, uint32_t recorder);

/*
 * For the rows of --view in tables of options, whose values are checked against these words
 * (opts_take_choice): the views of all traces, of memory, of waiting; and what each counts,
 * a line each.
 */
void view_words(struct strbuf *sb);
void view_words_mem(struct strbuf *sb);
void view_words_off(struct strbuf *sb);
void view_help(struct strbuf *sb);
void view_help_mem(struct strbuf *sb);
void view_help_off(struct strbuf *sb);

#endif
