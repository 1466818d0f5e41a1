/*
 * heapgraph.h: the blocks of a heap, the places outside of it that lead to them (roots), and which
 * leads to which.
 *
 * Nodes are numbers: 0 is the top, 1 to nroots are roots, the rest are blocks. A root stands on
 * another one, a variable on its module say, or on the top.
 */
#ifndef FLAME_FOLD_KEPT_HEAPGRAPH_H
#define FLAME_FOLD_KEPT_HEAPGRAPH_H

#include <stdbool.h>

#include "common/compiler.h"

/* How good a reason an edge is to say that its source keeps its target: the smaller, the better. */
enum heapgraph_level {
    HEAPGRAPH_VARIABLE = 0, /* a way from a variable, by pointers to beginnings */
    HEAPGRAPH_MAPPING = 2,  /* from memory that the program mapped, which something else leads to */
    HEAPGRAPH_STACK = 4,    /* from a stack or a register */
    HEAPGRAPH_WEAK = 6,     /* through memory that may hold words of what lay there before */
    /* One more, at each: the way has a pointer to the inside of a block. */
    HEAPGRAPH_LEVELS = 8,
    HEAPGRAPH_UNREACHED = 255,
};

/* Set in an edge: the pointer is to the inside of the target. */
#define HEAPGRAPH_INSIDE 0x80000000u

struct heapgraph {
    uint32_t nroots, nblocks;
    const uint32_t *parent; /* of each root, by node; [0] is not used. Smaller than the root */
    const uint8_t
        *root_level;      /* of each root, by node: HEAPGRAPH_VARIABLE, _MAPPING, _STACK or _WEAK */
    const uint64_t *size; /* of each block, by number from 0 */
    const uint8_t *weak;  /* of each block: whether what it leads to is HEAPGRAPH_WEAK; or
                           * NULL */
    const uint32_t *edges_at; /* by node, one more than there are nodes: where its edges begin */
    const uint32_t *edges;    /* nodes of blocks; HEAPGRAPH_INSIDE */
};

static inline uint32_t heapgraph_nodes(const struct heapgraph *g)
{
    return 1 + g->nroots + g->nblocks;
}

static inline bool heapgraph_is_block(const struct heapgraph *g, uint32_t node)
{
    return node > g->nroots;
}

static inline uint32_t heapgraph_block(const struct heapgraph *g, uint32_t node)
{
    return node - g->nroots - 1;
}

static inline uint64_t heapgraph_size(const struct heapgraph *g, uint32_t node)
{
    return heapgraph_is_block(g, node) ? g->size[heapgraph_block(g, node)] : 0;
}

#endif
