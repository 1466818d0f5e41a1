/*
 * levels.h: the best reason for which each block of a heap is kept.
 *
 * An edge is as good as the worst of the way to it. It counts only if nothing better leads to its
 * target, so a local variable that points to what a variable keeps is no second keeper.
 */
#ifndef FLAME_FOLD_KEPT_LEVELS_H
#define FLAME_FOLD_KEPT_LEVELS_H

#include "fold/kept/heapgraph.h"

/* The level of each node (enum heapgraph_level). The caller frees it. */
uint8_t *levels_find(const struct heapgraph *g);

/* The level of an edge of `from`, which is reached. */
static inline uint8_t levels_of_edge(const struct heapgraph *g, const uint8_t *levels,
                                     uint32_t from, uint32_t edge)
{
    uint8_t level = levels[from];

    if (g->weak && heapgraph_is_block(g, from) && g->weak[heapgraph_block(g, from)] &&
        level < HEAPGRAPH_WEAK)
        level = HEAPGRAPH_WEAK;
    return edge & HEAPGRAPH_INSIDE ? level | 1 : level;
}

/* Whether that edge counts. */
static inline bool levels_counts(const struct heapgraph *g, const uint8_t *levels, uint32_t from,
                                 uint32_t edge)
{
    return levels_of_edge(g, levels, from, edge) == levels[edge & ~HEAPGRAPH_INSIDE];
}

#endif
