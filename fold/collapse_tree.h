/*
 * collapse_tree.h: profiles printed as an indented tree, each line with the sum
 * of itself and all below it, or with what is its own.
 *
 * A reader says depth, name and number of each line in the order of the file.
 * With inclusive numbers a node gets what its children leave over; a node whose
 * children have more than itself gets nothing. Not thread-safe.
 */
#ifndef FLAME_FOLD_COLLAPSE_TREE_H
#define FLAME_FOLD_COLLAPSE_TREE_H

#include "fold/collapse.h"

struct collapse_tree_node {
    uint32_t name;
    size_t indent;
    struct collapse_count left; /* inclusive: not yet given to children */
};

struct collapse_tree {
    struct collapse *c;
    bool inclusive;
    enum collapse_order order; /* LEAF_FIRST: deeper lines are callers */
    struct collapse_tree_node *nodes;
    size_t depth, alloc; /* nodes[0..depth) lead to the last line */
};

void collapse_tree_init(struct collapse_tree *t, struct collapse *c, bool inclusive,
                        enum collapse_order order);
/*
 * The next line, a child of the last one that is indented less. How much deeper
 * a level is does not matter.
 */
void collapse_tree_add(struct collapse_tree *t, size_t indent, uint32_t name,
                       const struct collapse_count *count);
/* Ends the tree: what is left is flushed. Another may begin. */
void collapse_tree_end(struct collapse_tree *t);
void collapse_tree_release(struct collapse_tree *t);

/*
 * A number with a unit of time ("1.50 s", "12 ms", "3.2 min") in thousandths of
 * a second; without a unit, seconds are assumed if `seconds`, else none. False if
 * it is no number. Commas between digits are skipped.
 */
bool collapse_time(const char *s, size_t len, bool seconds, struct collapse_count *out);

#endif
