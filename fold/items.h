/*
 * items.h: what each row of a trace counts for in one view, before it has names.
 */
#ifndef FLAME_FOLD_ITEMS_H
#define FLAME_FOLD_ITEMS_H

#include "common/trace/trace_reader.h"
#include "fold/idle.h"
#include "fold/leftout.h"
#include "fold/viewtable.h"

struct item {
    uint32_t node;   /* whose stack it is */
    uint32_t thread; /* whose root it stands on; 0 for a memory view that tells none apart */
    uint32_t top;    /* thread whose name goes on top of it, or 0 */
    uint32_t region; /* a frame for this region goes under it: its number plus one, or 0 */
    enum view_part part;
    uint64_t longest; /* a frame for a sleep of so many nanoseconds goes on top of it; 0: none */
    int64_t value;
};

struct items {
    struct item *item; /* sorted by thread, part and region; free() it */
    size_t n;
};

struct item_options {
    const struct view *view;
    bool tid;                 /* memory: threads are kept apart; off-CPU: they always are */
    bool own;                 /* leave out inherited rows */
    const char *const *comms; /* only of threads with one of these names (the first 15 bytes
                                 count, as the kernel keeps no more) */
    size_t ncomms;
    const struct idle *idle;   /* these stacks are left out; NULL: none */
    struct left_out *left_out; /* what is left out is added to it */
};

/* One item for each row whose value is not 0; or, of memory without `tid`, for each node, with
 * the sum of its rows. */
struct items items_collect(const struct trace *t, const struct item_options *o);

/* One item for each row whose value is not 0; its value is the row's id. */
struct items items_of_rows(const struct trace *t, const struct item_options *o);

#endif
