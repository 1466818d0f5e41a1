/*
 * The work done once, when all lines are in: distinct names are ranked once, siblings then
 * ordered by rank alone, and totals summed in one backward pass, as children have higher numbers
 * than their parents.
 */
#define _GNU_SOURCE
#include "render/frametree_order.h"

#include <stdlib.h>

#include "common/alloc.h"

void frametree_add_whole(struct frametree *t, uint64_t *a, uint64_t b)
{
    if (__builtin_add_overflow(*a, b, a)) {
        *a = UINT64_MAX;
        t->saturated = true;
    }
}

void frametree_add_part(struct frametree *t, uint64_t *whole, double *part, double b)
{
    *part += b;
    if (*part >= 1) {
        *part -= 1;
        frametree_add_whole(t, whole, 1);
    }
}

void frametree_sum(struct frametree *t)
{
    if (t->self_part) {
        t->total_part = xreallocarray(t->total_part, t->n, sizeof(double));
        memcpy(t->total_part, t->self_part, t->n * sizeof(double));
    }
    for (uint32_t i = 0; i < t->n; i++)
        t->nodes[i].total = t->nodes[i].self;
    for (uint32_t i = t->n - 1; i > 0; i--) {
        uint32_t p = t->nodes[i].parent;

        frametree_add_whole(t, &t->nodes[p].total, t->nodes[i].total);
        if (t->total_part)
            frametree_add_part(t, &t->nodes[p].total, &t->total_part[p], t->total_part[i]);
    }
}

/* Eight bytes of a name as a number that compares as the bytes do. */
struct ranked {
    uint64_t key;
    uint32_t name;
};

static int cmp_ranked(const void *pa, const void *pb, void *arg)
{
    const struct ranked *a = pa, *b = pb;
    const struct frametree_name *names = arg, *x = &names[a->name], *y = &names[b->name];
    int c;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    c = memcmp(x->s, y->s, x->len < y->len ? x->len : y->len);
    if (c)
        return c;
    if (x->len != y->len)
        return x->len < y->len ? -1 : 1;
    return a->name < b->name ? -1 : 1;
}

void frametree_rank_names(struct frametree *t)
{
    struct ranked *r = xreallocarray(NULL, t->nnames, sizeof *r);

    for (uint32_t i = 0; i < t->nnames; i++) {
        unsigned char head[8] = {0};

        memcpy(head, t->names[i].s, t->names[i].len < 8 ? t->names[i].len : 8);
        r[i].key = 0;
        for (int j = 0; j < 8; j++)
            r[i].key = r[i].key << 8 | head[j];
        r[i].name = i;
    }
    qsort_r(r, t->nnames, sizeof *r, cmp_ranked, t->names);
    for (uint32_t i = 0; i < t->nnames; i++)
        t->names[r[i].name].rank = i;
    free(r);
}

static int cmp_u64(const void *pa, const void *pb)
{
    uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

    return a < b ? -1 : a > b;
}

static void sort_keys(uint64_t *k, size_t n)
{
    if (n > 16) {
        qsort(k, n, sizeof *k, cmp_u64);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        uint64_t v = k[i];
        size_t j = i;

        for (; j > 0 && k[j - 1] > v; j--)
            k[j] = k[j - 1];
        k[j] = v;
    }
}

void frametree_sort_siblings(struct frametree *t)
{
    uint64_t *keys = NULL;
    size_t cap = 0;

    for (uint32_t i = 0; i < t->n; i++) {
        size_t n = 0;

        if (t->nodes[i].first == FRAMETREE_NONE ||
            t->nodes[t->nodes[i].first].next == FRAMETREE_NONE)
            continue;
        for (uint32_t c = t->nodes[i].first; c != FRAMETREE_NONE; c = t->nodes[c].next) {
            GROW(keys, n, cap);
            keys[n++] = (uint64_t)t->names[t->nodes[c].name].rank << 32 | c;
        }
        sort_keys(keys, n);
        t->nodes[i].first = (uint32_t)keys[0];
        for (size_t k = 0; k < n; k++)
            t->nodes[(uint32_t)keys[k]].next = k + 1 < n ? (uint32_t)keys[k + 1] : FRAMETREE_NONE;
    }
    free(keys);
}

void frametree_list_siblings(struct frametree *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        t->nodes[i].first = FRAMETREE_NONE;
    for (uint32_t i = t->n - 1; i > 0; i--) {
        struct frametree_node *parent = &t->nodes[t->nodes[i].parent];

        t->nodes[i].next = parent->first;
        parent->first = i;
    }
}
