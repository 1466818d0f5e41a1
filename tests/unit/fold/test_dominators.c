/* Levels and dominators of random graphs against searches that try everything. */
#include "fold/kept/dominators.h"

#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "fold/kept/levels.h"
#include "tests/tap.h"

#define NODES 24u
#define EDGES 80u

static uint32_t seed = 1;

static uint32_t any(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

struct made {
    struct heapgraph g;
    uint32_t parent[NODES], edges_at[NODES + 1], edges[EDGES];
    uint8_t root_level[NODES], weak[NODES];
    uint64_t size[NODES];
};

static void make(struct made *m)
{
    uint32_t nroots = 1 + any(6), nodes = nroots + 2 + any(NODES - nroots - 2), n = 0;
    uint32_t dense = 1 + any(4);

    m->g = (struct heapgraph){.nroots = nroots,
                              .nblocks = nodes - nroots - 1,
                              .parent = m->parent,
                              .root_level = m->root_level,
                              .size = m->size,
                              .weak = any(2) ? m->weak : NULL,
                              .edges_at = m->edges_at,
                              .edges = m->edges};
    for (uint32_t v = 0; v < nodes; v++) {
        m->parent[v] = v > 0 && any(2) ? any(v) : 0;
        m->root_level[v] = (uint8_t)(2 * any(HEAPGRAPH_LEVELS / 2));
        m->size[v] = 1 + any(1000);
        m->weak[v] = any(5) == 0;
        m->edges_at[v] = n;
        for (uint32_t k = v ? any(dense + 1) : 0; k && n < EDGES; k--)
            m->edges[n++] = (nroots + 1 + any(m->g.nblocks)) | (any(4) ? 0 : HEAPGRAPH_INSIDE);
    }
    m->edges_at[nodes] = n;
}

/* ---- searches that try everything ---- */

static void all_levels(const struct heapgraph *g, uint8_t *levels)
{
    bool more = true;

    memset(levels, HEAPGRAPH_UNREACHED, heapgraph_nodes(g));
    levels[0] = 0;
    for (uint32_t r = 1; r <= g->nroots; r++)
        levels[r] = g->root_level[r];
    while (more) {
        more = false;
        for (uint32_t v = 1; v < heapgraph_nodes(g); v++)
            for (uint32_t e = g->edges_at[v]; e < g->edges_at[v + 1]; e++) {
                uint8_t *to = &levels[g->edges[e] & ~HEAPGRAPH_INSIDE], level = levels[v];

                if (level == HEAPGRAPH_UNREACHED)
                    continue;
                if (v > g->nroots && g->weak && g->weak[v - g->nroots - 1] &&
                    level < HEAPGRAPH_WEAK)
                    level = HEAPGRAPH_WEAK;
                if (g->edges[e] & HEAPGRAPH_INSIDE)
                    level |= 1;
                if (level < *to) {
                    *to = level;
                    more = true;
                }
            }
    }
}

/* Reaches what can be reached without `without`. */
static void reach(const struct heapgraph *g, const uint8_t *levels, uint32_t without, bool *reached)
{
    bool more = true;

    memset(reached, 0, NODES);
    reached[0] = without != 0;
    while (more) {
        more = false;
        for (uint32_t r = 1; r <= g->nroots; r++)
            if (!reached[r] && r != without && reached[g->parent[r]])
                more = reached[r] = true;
        for (uint32_t v = 1; v < heapgraph_nodes(g); v++)
            for (uint32_t e = g->edges_at[v]; reached[v] && e < g->edges_at[v + 1]; e++) {
                uint32_t to = g->edges[e] & ~HEAPGRAPH_INSIDE;

                if (!reached[to] && to != without && levels_counts(g, levels, v, g->edges[e]))
                    more = reached[to] = true;
            }
    }
}

/* ---- comparison ---- */

static bool kept[NODES][NODES]; /* [x][v]: v is not reached without x */

static void find_kept(const struct heapgraph *g, const uint8_t *levels)
{
    bool all[NODES];

    reach(g, levels, UINT32_MAX, all);
    for (uint32_t x = 0; x < heapgraph_nodes(g); x++) {
        reach(g, levels, x, kept[x]);
        for (uint32_t v = 0; v < heapgraph_nodes(g); v++)
            kept[x][v] = all[v] && !kept[x][v];
    }
}

static uint32_t keepers(const struct heapgraph *g, uint32_t v)
{
    uint32_t n = 0;

    for (uint32_t x = 0; x < heapgraph_nodes(g); x++)
        n += kept[x][v];
    return n;
}

/* The nearest of the nodes that v cannot be reached without. */
static uint32_t nearest(const struct heapgraph *g, uint32_t v)
{
    uint32_t best = 0;

    for (uint32_t x = 0; x < heapgraph_nodes(g); x++)
        if (x != v && kept[x][v] && keepers(g, x) > keepers(g, best))
            best = x;
    return best;
}

static bool is_right(const struct heapgraph *g)
{
    uint8_t wanted[NODES], *levels = levels_find(g);
    struct dominators d;
    uint64_t *sizes;
    bool right;

    all_levels(g, wanted);
    right = memcmp(levels, wanted, heapgraph_nodes(g)) == 0;
    dominators_find(&d, g, levels);
    sizes = dominators_sizes(&d, g, levels);
    find_kept(g, levels);
    for (uint32_t v = 0; v < heapgraph_nodes(g); v++) {
        uint64_t size = 0;

        if (levels[v] == HEAPGRAPH_UNREACHED || dominators_is_leaf(&d, v)) {
            for (uint32_t w = 0; w < heapgraph_nodes(g); w++)
                right &= !kept[v][w] || w == v; /* a leaf keeps nothing */
            continue;
        }
        for (uint32_t w = 0; w < heapgraph_nodes(g); w++)
            size += kept[v][w] ? heapgraph_size(g, w) : 0;
        right &= sizes[d.number[v]] == size;
        right &= !v || d.node[d.above[d.number[v]]] == nearest(g, v);
    }
    free(sizes);
    free(levels);
    dominators_release(&d);
    return right;
}

/* ---- large graphs ---- */

/* A root that leads to a list of n blocks, each with a leaf; the last one leads back to the
 * first. */
static void test_list(uint32_t n)
{
    uint32_t parent[2] = {0, 0}, nodes = 2 + 2 * n, at = 0;
    uint8_t level[2] = {0, 0}, *levels;
    uint32_t *edges_at = xreallocarray(NULL, nodes + 1, sizeof *edges_at);
    uint32_t *edges = xreallocarray(NULL, 2 * n + 1, sizeof *edges);
    uint64_t *size = xreallocarray(NULL, 2 * n, sizeof *size), *sizes;
    struct heapgraph g = {.nroots = 1,
                          .nblocks = 2 * n,
                          .parent = parent,
                          .root_level = level,
                          .size = size,
                          .edges_at = edges_at,
                          .edges = edges};
    struct dominators d;

    for (uint32_t v = 0; v <= nodes; v++) {
        edges_at[v] = at;
        if (v == 1)
            edges[at++] = 2;
        if (v < 2 || v >= 2 + n)
            continue;
        size[v - 2] = 1;
        size[v - 2 + n] = 10;
        edges[at++] = v + 1 < 2 + n ? v + 1 : 2;
        edges[at++] = v + n;
    }
    levels = levels_find(&g);
    dominators_find(&d, &g, levels);
    sizes = dominators_sizes(&d, &g, levels);
    is_int((intmax_t)d.n, (intmax_t)n + 2, "of %u blocks in a list, their leaves have no numbers",
           n);
    is_int((intmax_t)sizes[1], 11 * (intmax_t)n, "the root keeps the list");
    is_int((intmax_t)sizes[d.number[1 + n]], 11, "the last block keeps its leaf");
    is_int((intmax_t)sizes[d.number[2 + n / 2]], 11 * (intmax_t)(n - n / 2), "one keeps the rest");
    free(sizes);
    free(levels);
    dominators_release(&d);
    free(edges_at);
    free(edges);
    free(size);
}

int main(void)
{
    struct made m;
    int wrong = 0;

    for (int i = 0; i < 20000; i++) {
        uint32_t first = seed;

        make(&m);
        if (is_right(&m.g))
            continue;
        if (!wrong++)
            diag("seed %u", first);
    }
    is_int(wrong, 0, "20,000 random graphs have the levels and dominators that a search finds");
    test_list(1000000);
    return done_testing();
}
