/*
 * sumtree.h: a tree of frames with one column's sums for each, and the trees of the callers and
 * of the callees of one function.
 *
 * Parents come before their children, node 0 is the root, siblings are in the order of their
 * names. Counts are doubles: exact up to 2^53. They may be negative where a column is of
 * differences; then `width` is drawn, in which only growth counts.
 */
#ifndef FLAME_RENDER_VIEW_SUMTREE_H
#define FLAME_RENDER_VIEW_SUMTREE_H

#include "render/frametree.h"

struct sumtree {
    const struct frametree_node *nodes; /* name, parent, first and next of each; borrowed or own */
    uint32_t n;
    double *self, *total; /* by node; owned */
    double *width;        /* by node, none negative; owned unless it is `total` */
    struct frametree_node *own;
};

/* Makes the sums of a whole tree, which must outlive `s`. `self`: own counts by node. */
void sumtree_make(struct sumtree *s, const struct frametree *t, const double *self);

/*
 * Makes the tree of a function's callees, merged stack for stack; its root is the function,
 * whose total is the sum of the stacks with it, each counted once. `names`: the tree's, for the
 * order.
 */
void sumtree_callees(struct sumtree *s, const struct sumtree *of, uint32_t name,
                     const struct frametree_name *names);
/* Makes the tree of a function's callers: those of the outermost call in each stack are below
 * the root. */
void sumtree_callers(struct sumtree *s, const struct sumtree *of, uint32_t name,
                     const struct frametree_name *names);

void sumtree_release(struct sumtree *s);

/* The node after this one in pre-order, skipping the subtree below it without `descend`;
 * FRAMETREE_NONE at the end. */
uint32_t sumtree_next(const struct sumtree *s, uint32_t node, bool descend);
/* The node's distance from the root. */
uint32_t sumtree_depth(const struct sumtree *s, uint32_t node);

#endif
