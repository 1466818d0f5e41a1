#include "fold/kept/keepers.h"

#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/hash.h"
#include "fold/kept/levels.h"
#include "fold/stacks/hashslots.h"

struct finding {
    struct keepers *k;
    const struct keepers_input *in;
    struct hashslots nodes, alsos;
    uint32_t *place;    /* by number: its node in the tree */
    uint32_t *nearest;  /* by number: the root with the shortest way to it */
    uint32_t *distance; /* by number: the length of that way */
};

/* ---- nodes of the tree ---- */

static uint32_t child(struct finding *f, uint32_t parent, uint32_t name, bool is_root)
{
    struct keepers *k = f->k;
    uint32_t hash = (uint32_t)((((uint64_t)parent << 32 | name) * 2 + is_root) * HASH_GOLDEN >> 32);
    uint32_t at;

    for (size_t i = hashslots_first(&f->nodes, hash); hashslots_at(&f->nodes, i, &at);
         i = hashslots_next(&f->nodes, i))
        if (k->node[at].parent == parent && k->node[at].name == name &&
            k->node[at].is_root == is_root)
            return at;
    GROW(k->node, k->n, k->room);
    k->node[k->n] = (struct keepers_node){.parent = parent, .name = name, .is_root = is_root};
    hashslots_add(&f->nodes, hash, k->n);
    return k->n++;
}

/* The node of a site above `on`; where the site is on the way down to a root already, or to a frame
 * that names other keepers, that node. */
static uint32_t site_above(struct finding *f, uint32_t on, uint32_t site)
{
    for (uint32_t at = on; at && !f->k->node[at].is_root && !(f->k->node[at].name & KEEPERS_ALSO);
         at = f->k->node[at].parent)
        if (f->k->node[at].name == site)
            return at;
    return child(f, on, site, false);
}

static bool is_counted(const struct keepers_input *in, uint32_t block)
{
    return !in->uncounted || !in->uncounted[block];
}

static void add_block(struct finding *f, uint32_t at, uint32_t block)
{
    if (!is_counted(f->in, block))
        return;
    f->k->node[at].bytes += f->in->g->size[block];
    f->k->node[at].blocks++;
}

/* ---- blocks that several roots keep ---- */

static void note_root(struct keepers_also *a, uint32_t root)
{
    uint32_t i = 0;

    while (i < a->n && a->root[i] < root)
        i++;
    if (i < a->n && a->root[i] == root)
        return;
    if (a->n == KEEPERS_NAMED) {
        a->more = true;
        if (i == a->n)
            return;
        a->n--;
    }
    memmove(a->root + i + 1, a->root + i, (a->n - i) * sizeof *a->root);
    a->root[i] = root;
    a->n++;
}

static uint32_t also_name(struct finding *f, const struct keepers_also *a)
{
    struct keepers *k = f->k;
    uint32_t hash = (uint32_t)(fnv_bytes(FNV_BASIS, a, sizeof *a) * HASH_GOLDEN >> 32), at;

    for (size_t i = hashslots_first(&f->alsos, hash); hashslots_at(&f->alsos, i, &at);
         i = hashslots_next(&f->alsos, i))
        if (memcmp(&k->also[at], a, sizeof *a) == 0)
            return KEEPERS_ALSO | at;
    GROW(k->also, k->nalso, k->also_room);
    k->also[k->nalso] = *a;
    hashslots_add(&f->alsos, hash, k->nalso);
    return KEEPERS_ALSO | k->nalso++;
}

static uint32_t place_of_root(const struct finding *f, uint32_t root)
{
    return f->place[f->in->d->number[root]];
}

/* Where a block stands that several roots keep. A node that leads to it may have a greater number,
 * and no place yet; then its root's place serves. */
static uint32_t place_of_joint(struct finding *f, uint32_t number)
{
    const struct dominators *d = f->in->d;
    struct keepers_also also;
    uint32_t best = DOMINATORS_NONE, on, name;

    memset(&also, 0, sizeof also);
    for (uint32_t i = d->leads_at[number]; i < d->leads_at[number + 1]; i++)
        if (best == DOMINATORS_NONE || f->distance[d->leads[i]] < f->distance[best])
            best = d->leads[i];
    for (uint32_t i = d->leads_at[number]; i < d->leads_at[number + 1]; i++)
        if (f->nearest[d->leads[i]] != f->nearest[best])
            note_root(&also, f->nearest[d->leads[i]]);
    on = best < number ? f->place[best] : place_of_root(f, f->nearest[best]);
    name = also_name(f, &also);
    for (uint32_t at = on; at && !f->k->node[at].is_root; at = f->k->node[at].parent)
        if (f->k->node[at].name == name)
            return on; /* all that is above it is kept by these others as well */
    return child(f, on, name, false);
}

/* Shortest ways from roots, a breadth-first search. */
static void find_nearest(struct finding *f)
{
    const struct heapgraph *g = f->in->g;
    const struct dominators *d = f->in->d;
    uint32_t *queue = xreallocarray(NULL, d->n, sizeof *queue), n = 0;

    for (uint32_t i = 0; i < d->n; i++)
        f->distance[i] = UINT32_MAX;
    for (uint32_t r = 1; r <= g->nroots; r++) {
        f->distance[d->number[r]] = 0;
        f->nearest[d->number[r]] = r;
        queue[n++] = d->number[r];
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = d->node[queue[i]];

        for (uint32_t e = g->edges_at[v]; e < g->edges_at[v + 1]; e++) {
            uint32_t to = d->number[g->edges[e] & ~HEAPGRAPH_INSIDE];

            if (to == DOMINATORS_NONE || f->distance[to] != UINT32_MAX ||
                !levels_counts(g, f->in->levels, v, g->edges[e]))
                continue;
            f->distance[to] = f->distance[queue[i]] + 1;
            f->nearest[to] = f->nearest[queue[i]];
            queue[n++] = to;
        }
    }
    free(queue);
}

/* ---- placing ---- */

static void place_leaves(struct finding *f, uint32_t number)
{
    const struct heapgraph *g = f->in->g;
    uint32_t v = f->in->d->node[number];

    for (uint32_t e = g->edges_at[v]; e < g->edges_at[v + 1]; e++) {
        uint32_t to = g->edges[e] & ~HEAPGRAPH_INSIDE, block = heapgraph_block(g, to);

        if (dominators_is_leaf(f->in->d, to) && levels_counts(g, f->in->levels, v, g->edges[e]))
            add_block(f, site_above(f, f->place[number], f->in->site[block]), block);
    }
}

/* Whether a node does not itself keep what it dominates. */
static bool is_heading(const struct finding *f, uint32_t number)
{
    uint32_t v = f->in->d->node[number];

    return !v || (!heapgraph_is_block(f->in->g, v) && f->in->is_heading[v]);
}

static void place_nodes(struct finding *f)
{
    const struct heapgraph *g = f->in->g;
    const struct dominators *d = f->in->d;

    /* Roots come first, as blocks may stand on any of them; a root's parent is smaller. */
    for (uint32_t r = 1; r <= g->nroots; r++)
        f->place[d->number[r]] =
            child(f, f->place[d->number[g->parent[r]]], f->in->root_name[r], true);
    for (uint32_t i = 1; i < d->n; i++) {
        uint32_t v = d->node[i], block = heapgraph_block(g, v), on;

        if (heapgraph_is_block(g, v)) {
            on = is_heading(f, d->above[i]) ? place_of_joint(f, i) : f->place[d->above[i]];
            f->place[i] = site_above(f, on, f->in->site[block]);
            add_block(f, f->place[i], block);
        }
        place_leaves(f, i);
    }
}

void keepers_find(struct keepers *k, const struct keepers_input *in)
{
    struct finding f = {.k = k, .in = in};
    uint32_t n = in->d->n;

    *k = (struct keepers){.n = 0};
    GROW(k->node, k->n, k->room);
    k->node[k->n++] = (struct keepers_node){.is_root = true};
    hashslots_init(&f.nodes, 1024);
    hashslots_init(&f.alsos, 64);
    f.place = xcalloc(n, sizeof *f.place);
    f.nearest = xcalloc(n, sizeof *f.nearest);
    f.distance = xreallocarray(NULL, n, sizeof *f.distance);
    find_nearest(&f);
    place_nodes(&f);
    for (uint32_t b = 0; b < in->g->nblocks; b++)
        if (in->levels[in->g->nroots + 1 + b] == HEAPGRAPH_UNREACHED && is_counted(in, b)) {
            k->unreached_bytes += in->g->size[b];
            k->unreached_blocks++;
        }
    hashslots_release(&f.nodes);
    hashslots_release(&f.alsos);
    free(f.place);
    free(f.nearest);
    free(f.distance);
}

void keepers_release(struct keepers *k)
{
    free(k->node);
    free(k->also);
    *k = (struct keepers){.n = 0};
}
