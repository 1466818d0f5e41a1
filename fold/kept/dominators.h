/*
 * dominators.h: which node every way from the top to a node passes, over the edges that count
 * (levels.h). With a node, all that it dominates would go.
 *
 * Source: Georgiadis, Tarjan, Werneck, "Finding Dominators in Practice" (Journal of Graph
 * Algorithms and Applications 10, 2006): Semi-NCA.
 */
#ifndef FLAME_FOLD_KEPT_DOMINATORS_H
#define FLAME_FOLD_KEPT_DOMINATORS_H

#include "fold/kept/heapgraph.h"

#define DOMINATORS_NONE UINT32_MAX

/*
 * Nodes have numbers in the order of a depth-first search; the top has 0. A leaf is a block that
 * leads to no other and to which one edge leads, whose source dominates it. Most blocks are leaves,
 * so they get no number.
 */
struct dominators {
    uint32_t n;
    uint32_t *node;     /* by number */
    uint32_t *number;   /* by node; DOMINATORS_NONE: a leaf, or not reached */
    uint32_t *above;    /* by number: the number of the nearest node that dominates it, which is
                         * smaller; [0] is 0 */
    uint32_t *leads_at; /* by number, one more than there are: where the list in `leads` begins */
    uint32_t *leads;    /* numbers of the nodes that lead to it */
};

void dominators_find(struct dominators *d, const struct heapgraph *g, const uint8_t *levels);
void dominators_release(struct dominators *d);

/* Bytes of the blocks that each node dominates, itself included, by number. The caller frees
 * them. */
uint64_t *dominators_sizes(const struct dominators *d, const struct heapgraph *g,
                           const uint8_t *levels);

/* Whether the reached node is a leaf. */
static inline bool dominators_is_leaf(const struct dominators *d, uint32_t node)
{
    return d->number[node] == DOMINATORS_NONE;
}

#endif
