/*
 * frametree_order.h: makes a finished tree of nodes that have counts of their own: totals,
 * ranks of names, order of siblings. It is for frametree.c and for what makes one tree of
 * another (difference.c). Parents must have lower numbers than their children.
 */
#ifndef FLAME_RENDER_FRAMETREE_ORDER_H
#define FLAME_RENDER_FRAMETREE_ORDER_H

#include "render/frametree.h"

/* Returns *a + b, or the largest value if that overflows, and then sets t->saturated. */
void frametree_add_whole(struct frametree *t, uint64_t *a, uint64_t b);
/* Adds a fraction; a sum of one or more carries into the whole part. */
void frametree_add_part(struct frametree *t, uint64_t *whole, double *part, double b);

/* Totals of all nodes from their own counts; may be called again after those changed. */
void frametree_sum(struct frametree *t);
void frametree_rank_names(struct frametree *t);
/* Links siblings by the rank of their names. */
void frametree_sort_siblings(struct frametree *t);
/* Links siblings by number, which is the order they came in. */
void frametree_list_siblings(struct frametree *t);

#endif
