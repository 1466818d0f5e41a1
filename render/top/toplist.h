/*
 * toplist.h: a tree's counts by symbol instead of by stack.
 */
#ifndef FLAME_RENDER_TOP_TOPLIST_H
#define FLAME_RENDER_TOP_TOPLIST_H

#include "render/frametree.h"

enum top_sort {
    TOP_BY_SELF,
    TOP_BY_TOTAL,
    TOP_BY_NAME,
    TOP_BY_SELF_CHANGE, /* of a comparison: the largest first, whether more or less */
    TOP_BY_CHANGE,
    TOP_BY_SIZE, /* these by topclasses.h, the largest first, and then by total */
    TOP_BY_LIVED,
    TOP_BY_YOUNG,
    TOP_BY_P50, /* these by toplatency.h, the same */
    TOP_BY_P95,
    TOP_BY_P99,
    TOP_BY_MAX,
    TOP_BY_RATE, /* these two in the viewer alone, of what is being recorded */
    TOP_BY_TOTAL_RATE,
};

struct top_row {
    uint32_t name;              /* in the tree's names */
    struct folded_count self;   /* stacks that end in the symbol */
    struct folded_count total;  /* stacks that hold it, each counted once */
    double self_change, change; /* of a comparison: second minus first count of both */
};

/* Order of rows: counts downwards, ties of self by total, and then 0. */
int toprow_cmp(const struct top_row *a, const struct top_row *b, enum top_sort sort);

/*
 * One row for each symbol of a finished tree but the root, sorted: counts
 * downwards, names upwards, ties of self by total, others by name. Self counts of the names
 * that `wrappers` marks are their callers' (wrappers.h; NULL: none is). Returns the rows, to
 * be freed with free(), and their number in *n.
 */
struct top_row *toplist_make(const struct frametree *t, const bool *wrappers, enum top_sort sort,
                             size_t *n);

/* Second minus first count by node, with all below it, to be freed; NULL: nothing is compared. */
double *toplist_changes(const struct frametree *t);

/*
 * Calls `take` with every node from the root on, callers first; outermost: its symbol
 * is on none of its callers, so its total is of stacks not yet counted for the symbol.
 */
void toplist_walk(const struct frametree *t,
                  void (*take)(void *opaque, uint32_t node, bool outermost), void *opaque);

#endif
