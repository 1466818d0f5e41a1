/*
 * Layout: one pre-order walk with a running left edge.
 *
 * Leaving a subtree moves the edge to its right end, which is its left end plus
 * its total, so the walk keeps one left end per level and needs no recursion.
 * Edges are kept as exact counts and only scaled at the end: adding up widths in
 * pixels would let siblings drift apart.
 */
#include "render/layout.h"

#include <stdlib.h>

#include "common/alloc.h"

static struct folded_count add(struct folded_count a, struct folded_count b)
{
    a.part += b.part;
    if (a.part >= 1) {
        a.part -= 1;
        a.whole++;
    }
    /* The tree's totals are held at the largest value; sums must not wrap either. */
    if (__builtin_add_overflow(a.whole, b.whole, &a.whole))
        a.whole = UINT64_MAX;
    return a;
}

static void put(struct layout *l, size_t *cap, struct layout_frame f)
{
    GROW(l->frames, l->n, *cap);
    l->frames[l->n++] = f;
    if (f.depth > l->depth)
        l->depth = f.depth;
}

void layout_make(struct layout *l, const struct frametree *t, double width, double minwidth)
{
    double all = folded_count_double(frametree_total(t, 0));
    double scale = all > 0 ? width / all : 0;
    struct folded_count *edge = NULL; /* by depth: where the next frame of that level begins */
    size_t cap = 0, edges = 0;
    uint32_t depth = 0;
    bool descend;

    *l = (struct layout){0};
    for (uint32_t node = 0; node != FRAMETREE_NONE;
         node = frametree_next(t, node, descend, &depth)) {
        struct folded_count total = frametree_total(t, node);
        double w = folded_count_double(total) * scale;

        GROW_TO(edge, (size_t)depth + 2, edges);
        if (node == 0)
            edge[0] = (struct folded_count){0, 0};
        descend = node == 0 || (w > 0 && w >= minwidth);
        if (descend)
            put(l, &cap,
                (struct layout_frame){.node = node,
                                      .depth = depth,
                                      .start = edge[depth],
                                      .x = folded_count_double(edge[depth]) * scale,
                                      .width = node == 0 ? width : w});
        edge[depth + 1] = edge[depth];
        edge[depth] = add(edge[depth], total);
    }
    free(edge);
}

void layout_release(struct layout *l)
{
    free(l->frames);
    *l = (struct layout){0};
}
