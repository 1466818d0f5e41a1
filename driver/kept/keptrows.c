#include "driver/kept/keptrows.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/strbuf.h"
#include "driver/kept/keptroots.h"
#include "driver/kept/keptsites.h"
#include "driver/kept/past_end.h"
#include "fold/kept/keepers.h"
#include "fold/kept/levels.h"

/* ---- the graph ---- */

struct graph {
    struct heapgraph g;
    uint64_t *size;
    uint8_t *weak;
    uint32_t *edges_at, *edges, *site, nedges;
};

/* The node of a target; `first` is that of block 0. */
static uint32_t edge_to(uint32_t first, uint32_t target, bool past_end)
{
    return (target & HEAPGRAPH_INSIDE) | (past_end ? HEAPGRAPH_INSIDE : 0) |
           (first + (target & ~HEAPGRAPH_INSIDE));
}

/* Edges of roots in the order of roots, then those of blocks. */
static void list_edges(struct graph *to, const struct keptheap *s, const struct keptroots *roots)
{
    uint32_t n = roots->n, nodes = heapgraph_nodes(&to->g), first = n + 1;
    uint32_t *at = to->edges_at;

    for (size_t i = 0; i < s->nroots; i++)
        at[roots->of[i] + 1]++;
    for (uint32_t r = 1; r <= n + 1; r++)
        at[r] += at[r - 1];
    for (size_t i = s->nroots; i-- > 0;)
        to->edges[--at[roots->of[i] + 1]] = edge_to(first, s->roots[i].target, past_end_root(s, i));
    /* at[r + 1] is where the edges of r begin now. */
    memmove(at, at + 1, (n + 1) * sizeof *at);
    to->nedges = (uint32_t)s->nroots;
    for (uint32_t v = first; v < nodes; v++) {
        at[v] = to->nedges;
        if (s->idle && s->idle[v - first])
            continue;
        for (uint32_t e = s->edges_at[v - first]; e < s->edges_at[v - first + 1]; e++)
            to->edges[to->nedges++] = edge_to(first, s->edges[e], past_end_edge(s, v - first, e));
    }
    at[nodes] = to->nedges;
}

static void make_graph(struct graph *to, const struct keptheap *h, const struct keptroots *roots,
                       const struct keptsites *sites)
{
    size_t n = h->nblocks;
    uint32_t nodes;

    to->g = (struct heapgraph){.nroots = roots->n,
                               .nblocks = h->nblocks,
                               .parent = roots->parent,
                               .root_level = roots->level};
    nodes = heapgraph_nodes(&to->g);
    to->size = xreallocarray(NULL, n + 1, sizeof *to->size);
    to->weak = xreallocarray(NULL, n + 1, sizeof *to->weak);
    to->site = xreallocarray(NULL, n + 1, sizeof *to->site);
    to->edges_at = xcalloc((size_t)nodes + 2, sizeof *to->edges_at);
    to->edges = xreallocarray(NULL, h->nroots + h->nedges + 1, sizeof *to->edges);
    for (size_t i = 0; i < n; i++) {
        to->size[i] = h->idle && h->idle[i] ? 0 : h->blocks[i].size;
        to->weak[i] = sites->weak[h->blocks[i].row];
        to->site[i] = sites->of[h->blocks[i].row];
    }
    list_edges(to, h, roots);
    to->g.size = to->size;
    to->g.weak = to->weak;
    to->g.edges_at = to->edges_at;
    to->g.edges = to->edges;
}

static void release_graph(struct graph *g)
{
    free(g->size);
    free(g->weak);
    free(g->edges_at);
    free(g->edges);
    free(g->site);
}

/* ---- rows ---- */

/* The root is a member of the variable that it stands on. */
static bool is_member(const struct keptroots *roots, uint32_t r)
{
    return roots->level[r] == HEAPGRAPH_VARIABLE && roots->parent[r] &&
           !roots->heading[roots->parent[r]];
}

/* The name of a root, with that of the variable that it is a member of. */
static void add_root_name(struct strbuf *sb, const struct keptroots *roots,
                          const struct keptnames *names, uint32_t r)
{
    if (is_member(roots, r))
        add_root_name(sb, roots, names, roots->parent[r]);
    strbuf_addstr(sb, names->text[roots->name[r]]);
}

static void add_also(struct strbuf *sb, const struct keepers_also *a, const struct keptroots *roots,
                     const struct keptnames *names)
{
    strbuf_addstr(sb, "[also kept by ");
    for (uint32_t i = 0; i < a->n; i++) {
        strbuf_addstr(sb, i ? ", " : "");
        add_root_name(sb, roots, names, a->root[i]);
    }
    strbuf_addstr(sb, a->more ? ", ...]" : a->n ? "]" : "others]");
}

static void write_rows(const struct keepers *k, const struct keptspace *space,
                       const struct keptsites *sites, const struct keptroots *roots,
                       const struct keptnames *names)
{
    static const char nothing[] = "[nothing that was found]";
    uint32_t *at = xcalloc(k->n, sizeof *at);
    struct strbuf sb = STRBUF_INIT;

    space->row(space->arg, 0, 0, 0);
    for (uint32_t i = 1; i < k->n; i++) {
        const struct keepers_node *n = &k->node[i];
        uint32_t below = at[n->parent];

        strbuf_setlen(&sb, 0);
        if (n->name & KEEPERS_ALSO)
            add_also(&sb, &k->also[n->name & ~KEEPERS_ALSO], roots, names);
        else
            strbuf_addstr(&sb, names->text[n->name]);
        if (!n->is_root && !(n->name & KEEPERS_ALSO) && n->name < sites->room &&
            sites->frames[n->name] > KEPTSITES_MANY)
            at[i] = space->site(space->arg, below, sites->frames[n->name]);
        else
            at[i] = space->keeper(space->arg, below, sb.buf, sb.len);
        if (n->blocks)
            space->row(space->arg, at[i], n->bytes, n->blocks);
    }
    if (k->unreached_blocks)
        space->row(space->arg, space->keeper(space->arg, 0, nothing, sizeof nothing - 1),
                   k->unreached_bytes, k->unreached_blocks);
    strbuf_release(&sb);
    free(at);
}

static uint32_t rows_of(const struct keptheap *h)
{
    uint32_t rows = 1;

    for (uint32_t i = 0; i < h->nblocks; i++)
        if (h->blocks[i].row >= rows)
            rows = h->blocks[i].row + 1;
    return rows;
}

void keptrows_add(const struct keptheap *h, const struct keptspace *space)
{
    struct graph graph = {.size = NULL};
    struct keepers_input in = {.g = &graph.g, .uncounted = h->others};
    struct keptsites sites;
    struct keptnames names;
    struct keptroots roots;
    struct dominators d;
    struct keepers k;
    uint8_t *levels;

    keptnames_begin(&names, space);
    keptroots_make(&roots, h, &names);
    keptsites_find(&sites, &names, rows_of(h));
    make_graph(&graph, h, &roots, &sites);
    if (h->used_up)
        h->used_up(h->used_up_arg);
    levels = levels_find(&graph.g);
    dominators_find(&d, &graph.g, levels);
    in.levels = levels;
    in.d = &d;
    in.root_name = roots.name;
    in.is_heading = roots.heading;
    in.site = graph.site;
    keepers_find(&k, &in);
    write_rows(&k, space, &sites, &roots, &names);
    keepers_release(&k);
    dominators_release(&d);
    free(levels);
    release_graph(&graph);
    keptsites_release(&sites);
    keptroots_release(&roots);
    keptnames_end(&names);
}
