/*
 * Problem: all stacks with a function, merged below it (callees) or above it (callers), of trees
 * with millions of nodes, fast enough for a reaction to a key.
 *
 * Algorithm: one pass over the nodes, parents first, that keeps for each whether the function is
 * on its path. A child of the merged tree is found by its parent and its name in an open hash
 * table. The siblings are put in order once, by sorting all nodes by parent and name.
 */
#define _GNU_SOURCE
#include "render/view/sumtree.h"

#include <stdlib.h>

#include "common/hash.h"
#include "common/alloc.h"

static void add_up(struct sumtree *s)
{
    bool negative = false;

    s->total = xreallocarray(NULL, s->n, sizeof *s->total);
    for (uint32_t i = 0; i < s->n; i++) {
        s->total[i] = s->self[i];
        negative |= s->self[i] < 0;
    }
    for (uint32_t i = s->n; i-- > 1;)
        s->total[s->nodes[i].parent] += s->total[i];
    s->width = s->total;
    if (!negative)
        return;
    s->width = xreallocarray(NULL, s->n, sizeof *s->width);
    for (uint32_t i = 0; i < s->n; i++)
        s->width[i] = s->self[i] > 0 ? s->self[i] : 0;
    for (uint32_t i = s->n; i-- > 1;)
        s->width[s->nodes[i].parent] += s->width[i];
}

void sumtree_make(struct sumtree *s, const struct frametree *t, const double *self)
{
    *s = (struct sumtree){.nodes = t->nodes, .n = t->n};
    s->self = xreallocarray(NULL, s->n, sizeof *s->self);
    memcpy(s->self, self, s->n * sizeof *s->self);
    add_up(s);
}

void sumtree_release(struct sumtree *s)
{
    if (s->width != s->total)
        free(s->width);
    free(s->self);
    free(s->total);
    free(s->own);
    *s = (struct sumtree){0};
}

uint32_t sumtree_next(const struct sumtree *s, uint32_t node, bool descend)
{
    if (descend && s->nodes[node].first != FRAMETREE_NONE)
        return s->nodes[node].first;
    while (node != FRAMETREE_NONE && s->nodes[node].next == FRAMETREE_NONE)
        node = s->nodes[node].parent;
    return node == FRAMETREE_NONE ? node : s->nodes[node].next;
}

uint32_t sumtree_depth(const struct sumtree *s, uint32_t node)
{
    uint32_t depth = 0;

    for (; node != 0; node = s->nodes[node].parent)
        depth++;
    return depth;
}

/* ---- merging ---- */

struct merging {
    struct frametree_node *nodes;
    double *self;
    size_t n, room, self_room;
    uint32_t *slots; /* node + 1, or 0 */
    size_t mask;
};

static size_t slot_of(const struct merging *m, uint32_t parent, uint32_t name)
{
    uint64_t h = ((uint64_t)parent << 32 | name) * HASH_GOLDEN;
    size_t i = (size_t)(h >> 32) & m->mask;

    while (m->slots[i] &&
           (m->nodes[m->slots[i] - 1].parent != parent || m->nodes[m->slots[i] - 1].name != name))
        i = (i + 1) & m->mask;
    return i;
}

static void rehash(struct merging *m)
{
    free(m->slots);
    m->mask = m->mask ? m->mask * 2 + 1 : 255;
    m->slots = xcalloc(m->mask + 1, sizeof *m->slots);
    for (size_t i = 0; i < m->n; i++)
        m->slots[slot_of(m, m->nodes[i].parent, m->nodes[i].name)] = (uint32_t)i + 1;
}

static uint32_t child(struct merging *m, uint32_t parent, uint32_t name)
{
    size_t i;

    if (!m->slots || m->n * 2 > m->mask)
        rehash(m);
    i = slot_of(m, parent, name);
    if (m->slots[i])
        return m->slots[i] - 1;
    GROW(m->nodes, m->n, m->room);
    GROW(m->self, m->n, m->self_room);
    m->nodes[m->n] = (struct frametree_node){
        .name = name, .parent = parent, .first = FRAMETREE_NONE, .next = FRAMETREE_NONE};
    m->self[m->n] = 0;
    m->slots[i] = (uint32_t)++m->n;
    return (uint32_t)m->n - 1;
}

struct order {
    const struct frametree_node *nodes;
    const struct frametree_name *names;
};

/* The last sibling first, as each is put before those that were linked. */
static int by_parent_and_name(const void *pa, const void *pb, void *arg)
{
    const struct order *o = arg;
    const struct frametree_node *a = &o->nodes[*(const uint32_t *)pa],
                                *b = &o->nodes[*(const uint32_t *)pb];
    uint32_t x = o->names[a->name].rank, y = o->names[b->name].rank;

    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    return x > y ? -1 : x < y;
}

static void link_siblings(struct merging *m, const struct frametree_name *names)
{
    struct order order = {m->nodes, names};
    uint32_t *sorted = xreallocarray(NULL, m->n, sizeof *sorted);

    for (uint32_t i = 0; i + 1 < m->n; i++)
        sorted[i] = i + 1;
    qsort_r(sorted, m->n - 1, sizeof *sorted, by_parent_and_name, &order);
    for (size_t i = 0; i + 1 < m->n; i++) {
        struct frametree_node *node = &m->nodes[sorted[i]], *parent = &m->nodes[node->parent];

        node->next = parent->first;
        parent->first = sorted[i];
    }
    free(sorted);
}

static void begin(struct merging *m, uint32_t name)
{
    *m = (struct merging){0};
    child(m, FRAMETREE_NONE, name);
}

static void end(struct merging *m, struct sumtree *s, const struct frametree_name *names)
{
    link_siblings(m, names);
    free(m->slots);
    *s = (struct sumtree){.nodes = m->nodes, .own = m->nodes, .n = (uint32_t)m->n, .self = m->self};
    add_up(s);
}

void sumtree_callees(struct sumtree *s, const struct sumtree *of, uint32_t name,
                     const struct frametree_name *names)
{
    uint32_t *place = xreallocarray(NULL, of->n, sizeof *place);
    struct merging m;

    begin(&m, name);
    for (uint32_t i = 0; i < of->n; i++) {
        uint32_t above = i ? place[of->nodes[i].parent] : FRAMETREE_NONE;

        place[i] = above;
        if (above != FRAMETREE_NONE)
            place[i] = child(&m, above, of->nodes[i].name);
        else if (of->nodes[i].name == name)
            place[i] = 0;
        if (place[i] != FRAMETREE_NONE)
            m.self[place[i]] += of->self[i];
    }
    free(place);
    end(&m, s, names);
}

void sumtree_callers(struct sumtree *s, const struct sumtree *of, uint32_t name,
                     const struct frametree_name *names)
{
    bool *inside = xcalloc(of->n, sizeof *inside);
    struct merging m;

    begin(&m, name);
    for (uint32_t i = 0; i < of->n; i++) {
        bool above = i && inside[of->nodes[i].parent];
        uint32_t at = 0;

        inside[i] = above || of->nodes[i].name == name;
        if (!inside[i] || above)
            continue;
        for (uint32_t c = of->nodes[i].parent; c != 0 && c != FRAMETREE_NONE;
             c = of->nodes[c].parent)
            at = child(&m, at, of->nodes[c].name);
        m.self[at] += of->total[i];
    }
    free(inside);
    end(&m, s, names);
}
