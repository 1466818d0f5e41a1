/*
 * Algorithm: a breadth-first search for each level in turn, over the edges of that level. It begins
 * with the roots of the level, and with what nodes of better levels lead to by edges of this one.
 */
#include "fold/kept/levels.h"

#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"

struct search {
    const struct heapgraph *g;
    uint8_t *levels;
    uint32_t *queue; /* nodes that are reached */
    uint32_t n;
};

/* Reaches what `node` leads to by edges of that level. */
static void follow(struct search *s, uint32_t node, uint8_t level)
{
    for (uint32_t e = s->g->edges_at[node]; e < s->g->edges_at[node + 1]; e++) {
        uint32_t edge = s->g->edges[e], to = edge & ~HEAPGRAPH_INSIDE;

        if (s->levels[to] != HEAPGRAPH_UNREACHED ||
            levels_of_edge(s->g, s->levels, node, edge) != level)
            continue;
        s->levels[to] = level;
        s->queue[s->n++] = to;
    }
}

/* Whether edges of `node` may be of that level. */
static bool may_lead(const struct search *s, uint32_t node, uint8_t level)
{
    uint8_t best = levels_of_edge(s->g, s->levels, node, 0);

    return best == level || (best | 1) == level;
}

uint8_t *levels_find(const struct heapgraph *g)
{
    uint32_t nodes = heapgraph_nodes(g);
    struct search s = {.g = g};

    s.levels = xmalloc(nodes);
    memset(s.levels, HEAPGRAPH_UNREACHED, nodes);
    s.levels[0] = 0;
    s.queue = xreallocarray(NULL, nodes, sizeof *s.queue);
    for (uint8_t level = 0; level < HEAPGRAPH_LEVELS; level++) {
        uint32_t before = s.n;

        for (uint32_t i = 0; i < before; i++)
            if (may_lead(&s, s.queue[i], level))
                follow(&s, s.queue[i], level);
        for (uint32_t r = 1; r <= g->nroots; r++)
            if (g->root_level[r] == level) {
                s.levels[r] = level;
                s.queue[s.n++] = r;
            }
        for (uint32_t i = before; i < s.n; i++)
            if (may_lead(&s, s.queue[i], level))
                follow(&s, s.queue[i], level);
    }
    free(s.queue);
    return s.levels;
}
