/*
 * row_values.h: the items of a trace: a row's value, stack and thread in one view, before frames
 * have names.
 */
#ifndef FLAME_FOLD_ROW_VALUES_H
#define FLAME_FOLD_ROW_VALUES_H

#include "common/trace/trace_reader.h"
#include "fold/idle.h"
#include "fold/filter_report.h"
#include "fold/viewtable.h"
#include "fold/analysis/chainsplit.h"

struct row_value {
    uint32_t node;   /* the stack */
    uint32_t thread; /* the thread at the stack's root; 0 for a memory view that does not
                        separate threads */
    uint32_t top;    /* the thread whose name becomes the topmost frame, or 0 */
    uint32_t region; /* the region whose frame goes below the stack: its number plus one, or 0 */
    enum view_part part;
    uint32_t link;    /* a link of the row's chain on top of the stack (chainsplit.h), or 0 */
    uint64_t longest; /* nanoseconds of a sleep that gets a frame on top of the stack; 0: none */
    int64_t value;
};

struct row_values {
    struct row_value *item; /* sorted by thread, part and region; free() it */
    size_t n;
};

struct row_value_options {
    const struct view *view;
    bool tid;                 /* memory: keep threads apart; off-CPU: they always are */
    bool own;                 /* leave out inherited rows */
    const char *const *comms; /* only threads with one of these names (the first 15 bytes count,
                                 as the kernel keeps no more) */
    size_t ncomms;
    const struct idle *idle;        /* stacks to leave out; NULL: none */
    const struct chainsplit *split; /* of the trace, for a view that shows chains; or NULL */
    struct filter_report *left_out; /* gets the sums of what is left out */
};

/* One item for each row whose value is not 0; or, of memory without `tid`, for each node, with
 * the sum of its rows; or, with `split`, for each link of a row's chain. */
struct row_values row_values_collect(const struct trace *t, const struct row_value_options *o);

/* One item for each row whose value is not 0, or, with `split`, for each link of its chain, and for
 * what has none; its value is the row's id. */
struct row_values row_values_of_rows(const struct trace *t, const struct row_value_options *o);

/* Puts items of any order into that of nodestacks_add. */
void row_values_sort(struct row_values *items);

#endif
