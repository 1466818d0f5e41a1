/*
 * Counts by place.
 *
 * A stack counts once in the total of each place on it. So a walk that keeps for each place the
 * number of its frames on the path adds the totals of outermost ones only, as toplist.c does for
 * symbols. A frame without a place is in its caller's. A stack without any place is in the
 * unknown one, which has no frame whose total could be taken: its counts are added up stack by
 * stack.
 */
#define _GNU_SOURCE
#include "render/top/topplaces.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "render/wrappers.h"

struct step {
    uint32_t place; /* of the frame, or of the nearest caller that has one; plus one, 0: none has */
    uint32_t own;   /* place of the frame itself, plus one */
};

struct walk {
    const struct frameplaces *p;
    const struct frametree *t;
    const bool *wrappers;
    struct top_row *rows;
    uint32_t *on_path; /* by place: frames on the path */
    struct step *path; /* by depth */
    uint32_t *nodes;
    size_t path_room, nodes_room;
};

static void add_delta(double *sum, const double *delta, uint32_t node)
{
    if (delta)
        *sum += delta[node];
}

/* The place that gets a stack's own count: that of the nearest caller that is no wrapper. */
static uint32_t owning_place(const struct walk *w, uint32_t depth)
{
    uint32_t d = depth;

    while (w->wrappers && d > 1 && w->wrappers[w->t->nodes[w->nodes[d]].name])
        d--;
    return w->path[d].place ? w->path[d].place - 1 : FRAMEPLACES_UNKNOWN;
}

static void add_own(struct walk *w, uint32_t node, uint32_t depth)
{
    uint32_t owner = owning_place(w, depth);
    struct folded_count self = frametree_self(w->t, node);

    folded_count_add(&w->rows[owner].self, self);
    add_delta(&w->rows[owner].self_change, w->t->delta, node);
    /* No frame's total includes this stack for the unknown place. */
    if ((owner == FRAMEPLACES_UNKNOWN || !w->path[depth].place) &&
        !w->on_path[FRAMEPLACES_UNKNOWN]) {
        folded_count_add(&w->rows[FRAMEPLACES_UNKNOWN].total, self);
        add_delta(&w->rows[FRAMEPLACES_UNKNOWN].change, w->t->delta, node);
    }
}

static void take(struct walk *w, const double *changes, uint32_t node, uint32_t depth)
{
    uint32_t own = depth ? frameplaces_own(w->p, w->t->nodes[node].name, depth) : 0;

    GROW(w->path, depth, w->path_room);
    GROW(w->nodes, depth, w->nodes_room);
    w->nodes[depth] = node;
    w->path[depth] = (struct step){own ? own : depth ? w->path[depth - 1].place : 0, own};
    if (own && w->on_path[own - 1]++ == 0) {
        folded_count_add(&w->rows[own - 1].total, frametree_total(w->t, node));
        add_delta(&w->rows[own - 1].change, changes, node);
    }
    add_own(w, node, depth);
}

struct order {
    const struct frameplaces *p;
    enum top_sort sort;
};

static int cmp_text(const struct frameplaces *p, uint32_t a, uint32_t b)
{
    size_t alen, blen;
    const char *x = frameplaces_text(p, a, &alen), *y = frameplaces_text(p, b, &blen);
    int d = memcmp(x, y, alen < blen ? alen : blen);

    return d ? d : (alen > blen) - (alen < blen);
}

static int cmp_rows(const void *pa, const void *pb, void *arg)
{
    const struct top_row *a = pa, *b = pb;
    const struct order *o = arg;
    int c = toprow_cmp(a, b, o->sort);

    return c ? c : cmp_text(o->p, a->name, b->name);
}

static bool is_empty(const struct top_row *r)
{
    return !(folded_count_double(r->total) > 0) && r->change == 0 && r->self_change == 0;
}

struct top_row *topplaces_make(const struct frameplaces *p, const bool *wrappers,
                               enum top_sort sort, size_t *n)
{
    struct walk w = {.p = p, .t = p->t, .wrappers = wrappers};
    struct order order = {p, sort};
    double *changes = toplist_changes(p->t);
    uint32_t depth = 0, before = 0;

    w.rows = xcalloc(p->n, sizeof *w.rows);
    w.on_path = xcalloc(p->n, sizeof *w.on_path);
    for (uint32_t i = 0; i != FRAMETREE_NONE; i = frametree_next(w.t, i, true, &depth)) {
        for (uint32_t d = depth; i && d <= before; d++)
            if (w.path[d].own)
                w.on_path[w.path[d].own - 1]--;
        take(&w, changes, i, depth);
        before = depth;
    }
    *n = 0;
    for (uint32_t i = 0; i < p->n; i++)
        if (!is_empty(&w.rows[i])) {
            w.rows[*n] = w.rows[i];
            w.rows[(*n)++].name = i;
        }
    qsort_r(w.rows, *n, sizeof *w.rows, cmp_rows, &order);
    free(w.on_path);
    free(w.path);
    free(w.nodes);
    free(changes);
    return w.rows;
}
