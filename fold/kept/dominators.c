/*
 * Semi-NCA, without recursion, as a list of a million blocks is a path of a million nodes.
 *
 *   1. A depth-first search numbers the nodes.
 *   2. In the reverse order, each node's semidominator is found: the smallest number from which a
 *      way of greater numbers leads to it. Ways are kept short by compression.
 *   3. In order, each node's dominator is the nearest one above its parent that is not greater than
 *      its semidominator.
 *
 * Memory: 28 bytes a numbered node, 4 bytes an edge between such nodes, 5 bytes any node.
 */
#include "fold/kept/dominators.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "fold/kept/levels.h"

struct finding {
    struct dominators *d;
    const struct heapgraph *g;
    const uint8_t *levels;
    uint32_t *children_at, *children; /* of the top and of each root: roots that stand on it */
    uint32_t *parent;                 /* by number: in the search; later compressed */
    uint32_t *best;                   /* by number: the smallest semidominator on the way to it */
};

/* ---- successors ---- */

static void list_children(struct finding *f)
{
    const struct heapgraph *g = f->g;

    f->children_at = xcalloc((size_t)g->nroots + 3, sizeof *f->children_at);
    f->children = xreallocarray(NULL, (size_t)g->nroots + 1, sizeof *f->children);
    for (uint32_t r = 1; r <= g->nroots; r++)
        f->children_at[g->parent[r] + 2]++;
    for (uint32_t r = 1; r < g->nroots + 3; r++)
        f->children_at[r] += f->children_at[r - 1];
    for (uint32_t r = 1; r <= g->nroots; r++)
        f->children[f->children_at[g->parent[r] + 1]++] = r;
}

static uint32_t children_of(const struct finding *f, uint32_t node)
{
    return heapgraph_is_block(f->g, node) ? 0 : f->children_at[node + 1] - f->children_at[node];
}

static uint32_t successors(const struct finding *f, uint32_t node)
{
    return children_of(f, node) + f->g->edges_at[node + 1] - f->g->edges_at[node];
}

/* DOMINATORS_NONE: the edge does not count. */
static uint32_t successor(const struct finding *f, uint32_t node, uint32_t i)
{
    uint32_t children = children_of(f, node), edge;

    if (i < children)
        return f->children[f->children_at[node] + i];
    edge = f->g->edges[f->g->edges_at[node] + i - children];
    return levels_counts(f->g, f->levels, node, edge) ? edge & ~HEAPGRAPH_INSIDE : DOMINATORS_NONE;
}

/* ---- numbers ---- */

#define IS_TO_BE_NUMBERED (DOMINATORS_NONE - 1)

/* Marks all reached nodes but leaves. */
static void find_leaves(struct finding *f)
{
    uint32_t nodes = heapgraph_nodes(f->g);
    uint8_t *ways = xcalloc(nodes, 1); /* edges that lead to it, 2 at most; 4: it leads to others */

    for (uint32_t v = 0; v < nodes; v++) {
        if (f->levels[v] == HEAPGRAPH_UNREACHED)
            continue;
        for (uint32_t i = 0, n = successors(f, v); i < n; i++) {
            uint32_t w = successor(f, v, i);

            if (w == DOMINATORS_NONE || w == v)
                continue;
            ways[v] |= 4;
            if ((ways[w] & 3) < 2)
                ways[w]++;
        }
    }
    for (uint32_t v = 0; v < nodes; v++)
        f->d->number[v] =
            f->levels[v] == HEAPGRAPH_UNREACHED || (heapgraph_is_block(f->g, v) && ways[v] < 2)
                ? DOMINATORS_NONE
                : IS_TO_BE_NUMBERED;
    free(ways);
}

static void give_number(struct finding *f, uint32_t node, uint32_t parent)
{
    struct dominators *d = f->d;

    d->node[d->n] = node;
    f->parent[d->n] = parent;
    d->number[node] = d->n++;
}

static void give_numbers(struct finding *f)
{
    struct dominators *d = f->d;
    uint32_t *next = d->above; /* by number: the successor to be looked at next */
    uint32_t at = 0;

    give_number(f, 0, 0);
    next[0] = 0;
    for (;;) {
        uint32_t v = d->node[at], w;

        if (next[at] == successors(f, v)) {
            if (at == 0)
                return;
            at = f->parent[at];
            continue;
        }
        w = successor(f, v, next[at]++);
        if (w == DOMINATORS_NONE || d->number[w] != IS_TO_BE_NUMBERED)
            continue;
        give_number(f, w, at);
        at = d->number[w];
        next[at] = 0;
    }
}

static void list_leads(struct finding *f)
{
    struct dominators *d = f->d;

    d->leads_at = xcalloc((size_t)d->n + 2, sizeof *d->leads_at);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < d->n; i++)
            for (uint32_t k = 0, n = successors(f, d->node[i]); k < n; k++) {
                uint32_t w = successor(f, d->node[i], k);

                if (w == DOMINATORS_NONE || d->number[w] == DOMINATORS_NONE)
                    continue;
                if (pass)
                    d->leads[d->leads_at[d->number[w] + 1]++] = i;
                else
                    d->leads_at[d->number[w] + 2]++;
            }
        if (pass)
            return;
        for (uint32_t i = 1; i < d->n + 2; i++)
            d->leads_at[i] += d->leads_at[i - 1];
        d->leads = xreallocarray(NULL, (size_t)d->leads_at[d->n + 1] + 1, sizeof *d->leads);
    }
}

/* ---- dominators ---- */

/* The smallest semidominator on the way from `linked` to v. All between are linked already; the way
 * becomes short. `stack` has room for it. */
static uint32_t best_on_way(struct finding *f, uint32_t v, uint32_t linked, uint32_t *stack)
{
    uint32_t n = 0, at = v;

    if (v < linked)
        return v;
    while (f->parent[at] >= linked) {
        stack[n++] = at;
        at = f->parent[at];
    }
    while (n) {
        uint32_t up = at;

        at = stack[--n];
        if (f->best[up] < f->best[at])
            f->best[at] = f->best[up];
        f->parent[at] = f->parent[up];
    }
    return f->best[v];
}

static void find_dominators(struct finding *f)
{
    struct dominators *d = f->d;
    uint32_t *stack = xreallocarray(NULL, d->n, sizeof *stack);
    uint32_t *semi = xreallocarray(NULL, d->n, sizeof *semi);

    for (uint32_t i = 0; i < d->n; i++)
        d->above[i] = f->best[i] = semi[i] = f->parent[i];
    for (uint32_t i = d->n; i-- > 1;) {
        for (uint32_t k = d->leads_at[i]; k < d->leads_at[i + 1]; k++) {
            uint32_t s = best_on_way(f, d->leads[k], i + 1, stack);

            semi[i] = s < semi[i] ? s : semi[i];
        }
        f->best[i] = semi[i];
    }
    for (uint32_t i = 1; i < d->n; i++)
        while (d->above[i] > semi[i])
            d->above[i] = d->above[d->above[i]];
    free(stack);
    free(semi);
}

void dominators_find(struct dominators *d, const struct heapgraph *g, const uint8_t *levels)
{
    struct finding f = {.d = d, .g = g, .levels = levels};
    uint32_t nodes = heapgraph_nodes(g), numbered = 0;

    *d = (struct dominators){.n = 0};
    d->number = xreallocarray(NULL, nodes, sizeof *d->number);
    list_children(&f);
    find_leaves(&f);
    for (uint32_t v = 0; v < nodes; v++)
        numbered += d->number[v] == IS_TO_BE_NUMBERED;
    d->node = xreallocarray(NULL, numbered, sizeof *d->node);
    d->above = xreallocarray(NULL, numbered, sizeof *d->above);
    f.parent = xreallocarray(NULL, numbered, sizeof *f.parent);
    f.best = xreallocarray(NULL, numbered, sizeof *f.best);
    give_numbers(&f);
    list_leads(&f);
    find_dominators(&f);
    free(f.children_at);
    free(f.children);
    free(f.parent);
    free(f.best);
}

void dominators_release(struct dominators *d)
{
    free(d->node);
    free(d->number);
    free(d->above);
    free(d->leads_at);
    free(d->leads);
    *d = (struct dominators){.n = 0};
}

uint64_t *dominators_sizes(const struct dominators *d, const struct heapgraph *g,
                           const uint8_t *levels)
{
    uint64_t *sizes = xcalloc(d->n, sizeof *sizes);

    for (uint32_t i = d->n; i-- > 0;) {
        uint32_t v = d->node[i];

        sizes[i] += heapgraph_size(g, v);
        for (uint32_t e = g->edges_at[v]; e < g->edges_at[v + 1]; e++) {
            uint32_t w = g->edges[e] & ~HEAPGRAPH_INSIDE;

            if (levels_counts(g, levels, v, g->edges[e]) && dominators_is_leaf(d, w))
                sizes[i] += heapgraph_size(g, w);
        }
        if (i)
            sizes[d->above[i]] += sizes[i];
    }
    return sizes;
}
