/*
 * items.h: what each row of a trace counts for in one view, before it has names.
 */
#ifndef FLAME_FOLD_ITEMS_H
#define FLAME_FOLD_ITEMS_H

#include "common/trace_reader.h"
#include "fold/idle.h"
#include "fold/leftout.h"
#include "fold/viewtable.h"

struct item {
    uint32_t node;   /* whose stack it is */
    uint32_t thread; /* whose root it stands on; 0 for a memory view that tells none apart */
    uint32_t top;    /* thread whose name goes on top of it, or 0 */
    enum view_part part;
    int64_t value;
};

struct items {
    struct item *item; /* sorted by thread and part; free() it */
    size_t n;
};

struct item_options {
    const struct view *view;
    bool tid;                 /* memory: keep threads apart (of waiting: they always are) */
    bool own;                 /* leave out inherited rows */
    const char *const *comms; /* only of threads with one of these names (the first 15 bytes
                                 count, as the kernel keeps no more) */
    size_t ncomms;
    const struct idle *idle;   /* leave these out; NULL: none */
    struct left_out *left_out; /* added to */
};

/* One item for each row that comes to something, or for each node where that is enough. */
struct items items_collect(const struct trace *t, const struct item_options *o);

#endif
