/*
 * A frame's name identifies a class, so all possible names are made once and sought among those
 * of the tree. Only nodes that count in a column of classes are visited: a frame of the program
 * with such a name counts in none.
 */
#define _GNU_SOURCE
#include "render/top/topclasses.h"

#include <stddef.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/trace/lifeclass.h"
#include "fold/analysis/age_limits.h"
#include "render/top/toptext.h"

#define CLASSES (LIFECLASS_LIVES + 1)

/* Bytes by class of one symbol. */
struct sums {
    double size[CLASSES], lived[CLASSES];
    double young;
};

struct topclasses {
    const struct frametree *t;
    struct sums **of;    /* by name; NULL: nothing */
    uint16_t *number_of; /* by name: the class with that name; 0: none */
    uint32_t *seen;      /* by name: the round it was seen in */
    uint32_t round;
    enum histogram lives; /* the clock */
};

struct called {
    char *name;
    size_t len;
    uint16_t number;
};

static int by_name(const void *pa, const void *pb)
{
    const struct called *a = pa, *b = pb;
    int d = memcmp(a->name, b->name, a->len < b->len ? a->len : b->len);

    return d ? d : (a->len > b->len) - (a->len < b->len);
}

static void name_classes(struct topclasses *c)
{
    struct called all[HISTOGRAMS * CLASSES];
    size_t n = 0;

    for (uint32_t number = 0; number < HISTOGRAMS << 8; number++) {
        struct strbuf sb = STRBUF_INIT;

        if (!lifeclass_is(number) || lifeclass_class(number) >= CLASSES)
            continue;
        age_limits_add_class(&sb, number);
        all[n].len = sb.len;
        all[n].number = (uint16_t)number;
        all[n++].name = strbuf_detach(&sb, NULL);
    }
    qsort(all, n, sizeof *all, by_name);
    for (uint32_t i = 0; i < c->t->nnames; i++) {
        const struct called key = {.name = (char *)(uintptr_t)c->t->names[i].s,
                                   .len = c->t->names[i].len};
        const struct called *found = bsearch(&key, all, n, sizeof *all, by_name);

        c->number_of[i] = found ? found->number : 0;
    }
    while (n > 0)
        free(all[--n].name);
}

/* Adds to `at` of every symbol from the node on up. */
static void add_up(struct topclasses *c, uint32_t node, size_t at, double bytes)
{
    c->round++;
    for (; node && node != FRAMETREE_NONE; node = c->t->nodes[node].parent) {
        uint32_t name = c->t->nodes[node].name;

        if (c->seen[name] == c->round)
            continue;
        c->seen[name] = c->round;
        if (!c->of[name])
            c->of[name] = xcalloc(1, sizeof **c->of);
        ((double *)c->of[name])[at] += bytes;
    }
}

static void take_class(struct topclasses *c, uint32_t node, double bytes)
{
    uint32_t name = c->t->nodes[node].name, number = c->number_of[name];
    enum histogram of = lifeclass_of(number);
    uint32_t class = lifeclass_class(number);

    if (!number)
        return;
    if (of != HISTOGRAM_SIZES && class == LIFECLASS_UNKNOWN)
        return;
    if (of != HISTOGRAM_SIZES)
        c->lives = lifeclass_in_bytes(of) ? HISTOGRAM_LIFETIMES_BYTES : HISTOGRAM_LIFETIMES;
    add_up(c, c->t->nodes[node].parent, of == HISTOGRAM_SIZES ? class : CLASSES + class, bytes);
}

static bool is_view(const struct input *in, uint32_t column, const char *view)
{
    const char *name = in->columns[column].view;

    return name && strcmp(name, view) == 0;
}

static double count_of(const struct frametree *t, uint32_t column, uint32_t node)
{
    return column ? t->columns[column - 1][node] : folded_count_double(frametree_self(t, node));
}

struct topclasses *topclasses_make(const struct input *in)
{
    struct topclasses *c = xcalloc(1, sizeof *c);
    bool any = false;

    c->t = &in->tree;
    c->of = xcalloc(c->t->nnames, sizeof(struct sums *));
    c->number_of = xcalloc(c->t->nnames, sizeof *c->number_of);
    c->seen = xcalloc(c->t->nnames, sizeof *c->seen);
    name_classes(c);
    for (uint32_t k = 0; k < in->ncolumns && k <= c->t->ncolumns; k++) {
        bool classes = is_view(in, k, "sizes") || is_view(in, k, "lifetimes");
        bool young = is_view(in, k, "short");

        for (uint32_t i = 1; i < c->t->n && (classes || young); i++)
            if (count_of(c->t, k, i) > 0 && classes)
                take_class(c, i, count_of(c->t, k, i));
            else if (count_of(c->t, k, i) > 0)
                add_up(c, i, offsetof(struct sums, young) / sizeof(double), count_of(c->t, k, i));
        any |= classes;
    }
    if (any)
        return c;
    topclasses_free(c);
    return NULL;
}

void topclasses_free(struct topclasses *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->t->nnames; i++)
        free(c->of[i]);
    free(c->of);
    free(c->number_of);
    free(c->seen);
    free(c);
}

static double sum_of(const double *classes)
{
    double sum = 0;

    for (size_t i = 0; i < CLASSES; i++)
        sum += classes[i];
    return sum;
}

/* -1: nothing. */
static int median_of(const double *classes)
{
    double half = sum_of(classes) / 2, sum = 0;

    for (int i = 0; half > 0 && i < (int)CLASSES; i++) {
        sum += classes[i];
        if (sum >= half)
            return i;
    }
    return -1;
}

/* The share of bytes that died young; -1: nothing is known. */
static double young_of(const struct sums *s)
{
    double all = s ? sum_of(s->lived) : 0;

    return all > 0 ? (s->young < all ? s->young / all : 1) : -1;
}

static double key_of(const struct topclasses *c, enum top_sort sort, uint32_t name)
{
    const struct sums *s = c->of[name];

    if (!s)
        return -1;
    return sort == TOP_BY_YOUNG ? young_of(s) : median_of(sort == TOP_BY_SIZE ? s->size : s->lived);
}

struct order {
    const struct topclasses *c;
    enum top_sort sort;
};

static int by_class(const void *pa, const void *pb, void *arg)
{
    const struct top_row *a = pa, *b = pb;
    const struct order *o = arg;
    double x = key_of(o->c, o->sort, a->name), y = key_of(o->c, o->sort, b->name);
    double p = folded_count_double(a->total), q = folded_count_double(b->total);
    uint32_t ra = o->c->t->names[a->name].rank, rb = o->c->t->names[b->name].rank;

    if (x == y) {
        x = p;
        y = q;
    }
    return x > y ? -1 : x < y ? 1 : ra < rb ? -1 : ra > rb;
}

void topclasses_sort(const struct topclasses *c, enum top_sort sort, struct top_row *rows, size_t n)
{
    struct order order = {c, sort};

    qsort_r(rows, n, sizeof *rows, by_class, &order);
}

void topclasses_add_columns(struct strbuf *sb)
{
    toptext_add_right(sb, "size", 11);
    toptext_add_right(sb, "lived", 14);
    toptext_add_right(sb, "young", 9);
}

static void add_median(struct strbuf *sb, enum histogram of, const double *classes, size_t width)
{
    struct strbuf text = STRBUF_INIT;
    int median = median_of(classes);

    strbuf_addstr(&text, "");
    if (median >= 0)
        age_limits_add_end(&text, of, (uint32_t)median);
    toptext_add_right(sb, text.buf, width);
    strbuf_release(&text);
}

void topclasses_add(const struct topclasses *c, uint32_t name, struct strbuf *sb)
{
    static const struct sums nothing;
    const struct sums *s = c->of[name] ? c->of[name] : &nothing;
    struct strbuf text = STRBUF_INIT;
    double young = young_of(s);

    add_median(sb, HISTOGRAM_SIZES, s->size, 11);
    add_median(sb, c->lives, s->lived, 14);
    strbuf_addstr(&text, "");
    if (young >= 0)
        strbuf_addf(&text, "%.2f%%", young * 100);
    toptext_add_right(sb, text.buf, 9);
    strbuf_release(&text);
}
