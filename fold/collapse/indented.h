/*
 * indented.h: profiles printed as an indented tree, in which each line has the total of a frame,
 * or its self count.
 *
 * A reader passes depth, name and number of each line in the order of the file. Where the
 * numbers are totals (`inclusive`), a node's self count is what its children leave over, or 0 if
 * they have more than the node. Not thread-safe.
 */
#ifndef FLAME_FOLD_COLLAPSE_INDENTED_H
#define FLAME_FOLD_COLLAPSE_INDENTED_H

#include "fold/collapse/collapse.h"

struct indented_node {
    uint32_t name;
    size_t indent;
    struct stackset_count left; /* inclusive: not yet given to children */
};

struct indented {
    struct collapse *c;
    bool inclusive;
    enum collapse_order order; /* LEAF_FIRST: deeper lines are callers */
    struct indented_node *nodes;
    size_t depth, alloc; /* nodes[0..depth) lead to the last line */
};

void indented_init(struct indented *t, struct collapse *c, bool inclusive,
                   enum collapse_order order);
/*
 * The next line, a child of the last one that is indented less. How much deeper
 * a level is does not matter.
 */
void indented_add(struct indented *t, size_t indent, uint32_t name,
                  const struct stackset_count *count);
/* Ends the tree: what is left is flushed. Another may begin. */
void indented_end(struct indented *t);
void indented_release(struct indented *t);

/*
 * A number with a unit of time ("1.50 s", "12 ms", "3.2 min") in thousandths of
 * a second; a number without a unit is of seconds if `seconds` is true, and is taken
 * as it is otherwise. False: it is no number. Commas between digits are skipped.
 */
bool indented_time(const char *s, size_t len, bool seconds, struct stackset_count *out);

/* Takes a number off the front of *line. False: there is none. Pure. */
bool indented_take_number(struct span *line, struct stackset_count *count);

#endif
