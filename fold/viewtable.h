/*
 * viewtable.h: the views of traces: the questions that a trace answers.
 *
 * Each recorder has a table with one row for each view (fold/memviews.c, fold/offviews.c). A row is
 * all that there is to say of a view: what it counts and how, what a trace must have for it and
 * flame mem records only on request, its moments, and its title and palette in pictures. A new view
 * is a new row.
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

/* Work that a recorder does for a view on request only. */
enum view_request {
    VIEW_ASKS_SCAN = 1u << 0,        /* processes scan for leaks, and regions check their blocks */
    VIEW_ASKS_RESIDENT = 1u << 1,    /* processes scan their resident pages */
    VIEW_ASKS_FAULTS = 1u << 2,      /* page faults by stack */
    VIEW_ASKS_TOUCHED = 1u << 3,     /* page faults by owner */
    VIEW_ASKS_LIFETIMES = 1u << 4,   /* lifetimes, and the choice of their clock */
    VIEW_ASKS_CPU = 1u << 5,         /* samples of running threads */
    VIEW_ASKS_EVERY_BLOCK = 1u << 6, /* blocks must not be sampled */
    VIEW_ASKS_KEEPERS = 1u << 7,     /* it is searched for who keeps blocks */
};

/* Needs of a view beyond what each trace of its recorder has. */
struct view_need {
    uint32_t feature; /* enum trace_feature that a trace must have; 0: none */
    bool (*in_trace)(const struct trace *t); /* NULL, or whether a trace has it */
    uint32_t asks;                           /* bits of enum view_request */
    /* It suffices if one process of the recording has it: for leaks one that has scanned. Otherwise
     * all must, except traces of page faults. */
    bool of_some;
    /* A recording of a command in which no process has it is an empty view, not an error. */
    bool may_be_empty;
    const char *lack; /* a trace without it is "recorded without" this */
};

struct view {
    const char *name; /* the value of --view */
    const char *what; /* description of its counts, for help texts */
    /* Words for it in a page's switch of views, which explain it to a reader who does not know the
     * name: at most VIEW_LABEL_MAX bytes, no two views alike. */
    const char *label;

    const char *unit; /* "bytes", "calls", "us" */
    uint32_t recorder;
    uint32_t scale; /* `value` counts in 1/scale of the unit; a stack's sum is rounded once */
    enum view_shape shape;
    /* A row's share; shares of one stack are summed modulo 2^64. */
    int64_t (*value)(const struct trace *t, const struct trace_row *r);
    enum view_part (*part)(const struct trace_row *r); /* NULL: VIEW_PLAIN */

    const struct view_need *need; /* NULL: any trace of the recorder has the view */
    bool in_parts; /* of waiting: can be asked for a part of the time (--from and --to, --region) */
    /* NULL, or the view can be asked for at a moment (--at), and this is the table of what has
     * grown between two moments. */
    const struct view *grown;
    bool of_path; /* of the critical path (critical.h), which a part of the time has anew: it is no
                     sum of intervals */
    bool beside;  /* tables have it as more columns of another view */

    const char *title;
    const char *moment_title; /* before "at 12.5 s" or "from 2 s to 12.5 s"; NULL: no such title */
    const char *palette;
    bool level; /* an amount that exists at a moment: several moments have a mean, no sum */
};

#define VIEW_LABEL_MAX 22 /* a switch of twenty views has few lines then */

/* A table has at most so many rows, and behind them one whose name is NULL. */
#define VIEWS_MAX 32
extern const struct view mem_views[], off_views[];

/* Whether a trace of the view's recorder has what the view needs. */
bool view_is_in(const struct view *v, const struct trace *t);

static inline uint32_t view_asks(const struct view *v)
{
    return v->need ? v->need->asks : 0;
}

/* The views of a recorder's traces, the default first; NULL for an unknown recorder. */
const struct view *views_of(uint32_t recorder);

/* The view that --view NAME asks for; NULL: there is none. */
const struct view *view_find(const char *name);

/* The view that folded text has by its line "# flame: view=NAME": one of view_find, or of what has
 * grown between two moments. NULL: there is none, or `name` is NULL. */
const struct view *view_of_text(const char *name);

/* Appends "alloc, count, ...": of a recorder. */
void view_list(struct strbuf *sb, uint32_t recorder);

/* Appends those views of a recorder that are wanted, as in "alloc, count and live". */
void view_list_some(struct strbuf *sb, uint32_t recorder, bool (*wanted)(const struct view *v));

/*
 * Texts for the rows of --view in tables of options, whose values are checked against these words
 * (opts_take_choice): the names of the views of all traces, of memory, of waiting; and the
 * description of each view, a line each.
 */
void view_words(struct strbuf *sb);
void view_words_mem(struct strbuf *sb);
void view_words_off(struct strbuf *sb);
void view_help(struct strbuf *sb);
void view_help_mem(struct strbuf *sb);
void view_help_off(struct strbuf *sb);

#endif
