/*
 * Counts by symbol.
 *
 * Problem: a recursive symbol is in a stack several times, and its total must count that stack
 * once.
 *
 * Algorithm: one pre-order walk that keeps for each symbol how many times it lies on the path to
 * the present node; only the outermost one adds the node's total. The walk leaves nodes by
 * depth, so the path is kept as an array.
 */
#define _GNU_SOURCE
#include "render/top/toplist.h"

#include <math.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "render/wrappers.h"

struct order {
    const struct frametree *t;
    enum top_sort sort;
};

static int cmp_count(struct folded_count a, struct folded_count b)
{
    if (a.whole != b.whole)
        return a.whole > b.whole ? -1 : 1;
    return a.part > b.part ? -1 : a.part < b.part;
}

static int cmp_change(double a, double b)
{
    return (fabs(a) < fabs(b)) - (fabs(a) > fabs(b));
}

int toprow_cmp(const struct top_row *a, const struct top_row *b, enum top_sort sort)
{
    int c = 0;

    if (sort == TOP_BY_SELF)
        c = cmp_count(a->self, b->self);
    else if (sort == TOP_BY_SELF_CHANGE)
        c = cmp_change(a->self_change, b->self_change);
    else if (sort == TOP_BY_CHANGE)
        c = cmp_change(a->change, b->change);
    if (!c && sort != TOP_BY_NAME) /* also what topclasses.h sorts afterwards */
        c = cmp_count(a->total, b->total);
    return c;
}

static int cmp_rows(const void *pa, const void *pb, void *arg)
{
    const struct top_row *a = pa, *b = pb;
    const struct order *o = arg;
    uint32_t x = o->t->names[a->name].rank, y = o->t->names[b->name].rank;
    int c = toprow_cmp(a, b, o->sort);

    return c ? c : x < y ? -1 : x > y;
}

void toplist_walk(const struct frametree *t,
                  void (*take)(void *opaque, uint32_t node, bool outermost), void *opaque)
{
    uint32_t *on_path = xcalloc(t->nnames, sizeof *on_path); /* times, by name */
    uint32_t *path = NULL;                                   /* names, by depth */
    size_t cap = 0, len = 0;
    uint32_t depth = 0;

    for (uint32_t node = 0; node != FRAMETREE_NONE; node = frametree_next(t, node, true, &depth)) {
        uint32_t name = t->nodes[node].name;

        while (len > depth)
            on_path[path[--len]]--;
        GROW(path, len, cap);
        path[len++] = name;
        take(opaque, node, on_path[name]++ == 0);
    }
    free(path);
    free(on_path);
}

struct listing {
    const struct frametree *t;
    const bool *wrappers;
    const double *changes; /* by node, with all below it; NULL: nothing is compared */
    struct top_row *rows;
};

static void take_node(void *opaque, uint32_t node, bool outermost)
{
    const struct listing *l = opaque;
    uint32_t owner = wrappers_owner(l->t, l->wrappers, node);

    folded_count_add(&l->rows[l->t->nodes[owner].name].self, frametree_self(l->t, node));
    if (outermost)
        folded_count_add(&l->rows[l->t->nodes[node].name].total, frametree_total(l->t, node));
    if (!l->changes)
        return;
    l->rows[l->t->nodes[owner].name].self_change += l->t->delta[node];
    if (outermost)
        l->rows[l->t->nodes[node].name].change += l->changes[node];
}

double *toplist_changes(const struct frametree *t)
{
    double *sum;

    if (!t->delta)
        return NULL;
    sum = xreallocarray(NULL, t->n, sizeof *sum);
    memcpy(sum, t->delta, t->n * sizeof *sum);
    for (uint32_t i = t->n - 1; i > 0; i--)
        sum[t->nodes[i].parent] += sum[i];
    return sum;
}

struct top_row *toplist_make(const struct frametree *t, const bool *wrappers, enum top_sort sort,
                             size_t *n)
{
    struct top_row *rows = xcalloc(t->nnames, sizeof *rows);
    double *changes = toplist_changes(t);
    struct listing list = {t, wrappers, changes, rows};
    struct order order = {t, sort};

    toplist_walk(t, take_node, &list);
    free(changes);
    for (uint32_t i = 0; i < t->nnames; i++)
        rows[i].name = i;
    /* The root's name is number 0 and no symbol. */
    *n = t->nnames - 1;
    memmove(rows, rows + 1, *n * sizeof *rows);
    qsort_r(rows, *n, sizeof *rows, cmp_rows, &order);
    return rows;
}
