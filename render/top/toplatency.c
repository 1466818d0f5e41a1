/*
 * A node of the column is a class if its frame's name is one. Its count is added to the histogram
 * of each symbol from its parent up. Histograms have only the classes that are in the tree, from
 * the lowest to the highest: some 100 for most programs, and not 496.
 */
#define _GNU_SOURCE
#include "render/top/toplatency.h"

#include <math.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/trace/sleepclass.h"
#include "render/top/toptext.h"

#define COLUMN_WIDTH (TOPLATENCY_WIDTH / 4)

struct sleeps {
    uint64_t longest; /* ns */
    double known;     /* how many in the classes */
    double of_class[];
};

struct toplatency {
    const struct frametree *t;
    const double *counts;  /* by node */
    struct sleeps **of;    /* by name; NULL: none */
    uint32_t *seen, round; /* by name: the round it was seen in */
    uint32_t lowest, classes;
    double known, unknown; /* of the whole tree */
};

static const double shares[] = {50, 95, 99};

static bool read_node(const struct toplatency *l, uint32_t node, struct sleepclass_frame *frame)
{
    const struct frametree_name *name = &l->t->names[l->t->nodes[node].name];

    return l->counts[node] > 0 && sleepclass_read(name->s, name->len, frame);
}

static struct sleeps *sleeps_of(struct toplatency *l, uint32_t name)
{
    if (!l->of[name])
        l->of[name] = xcalloc(1, sizeof **l->of + l->classes * sizeof(double));
    return l->of[name];
}

static void add_up(struct toplatency *l, uint32_t node, const struct sleepclass_frame *frame)
{
    double count = l->counts[node];

    l->round++;
    for (node = l->t->nodes[node].parent; node && node != FRAMETREE_NONE;
         node = l->t->nodes[node].parent) {
        uint32_t name = l->t->nodes[node].name;
        struct sleeps *s;

        if (l->seen[name] == l->round)
            continue;
        l->seen[name] = l->round;
        s = sleeps_of(l, name);
        s->known += count;
        s->of_class[frame->class - l->lowest] += count;
        if (frame->ns > s->longest) /* of a class its least, where filters leave no longest one */
            s->longest = frame->ns;
    }
}

/* Finds the classes of the input, and the number of all sleeps. */
static void survey(struct toplatency *l)
{
    uint32_t lowest = SLEEPCLASSES, highest = 0;
    struct sleepclass_frame frame;

    for (uint32_t i = 1; i < l->t->n; i++) {
        if (!read_node(l, i, &frame)) {
            l->unknown += l->counts[i];
            continue;
        }
        if (frame.class == SLEEPCLASS_UNKNOWN) {
            l->unknown += l->counts[i];
            continue;
        }
        l->known += l->counts[i];
        lowest = frame.class < lowest ? frame.class : lowest;
        highest = frame.class > highest ? frame.class : highest;
    }
    l->lowest = lowest;
    l->classes = l->known > 0 ? highest - lowest + 1 : 0;
}

static const double *find_column(const struct input *in)
{
    for (uint32_t k = 1; k < in->ncolumns && k <= in->tree.ncolumns; k++)
        if (in->columns[k].view && strcmp(in->columns[k].view, "latency") == 0)
            return in->tree.columns[k - 1];
    return NULL;
}

struct toplatency *toplatency_make(const struct input *in)
{
    const double *counts = find_column(in);
    struct sleepclass_frame frame;
    struct toplatency *l;

    if (!counts)
        return NULL;
    l = xcalloc(1, sizeof *l);
    l->t = &in->tree;
    l->counts = counts;
    l->of = xcalloc(l->t->nnames, sizeof(struct sleeps *));
    l->seen = xcalloc(l->t->nnames, sizeof *l->seen);
    survey(l);
    for (uint32_t i = 1; i < l->t->n; i++)
        if (read_node(l, i, &frame) && frame.class != SLEEPCLASS_UNKNOWN)
            add_up(l, i, &frame);
    if (l->known > 0)
        return l;
    toplatency_free(l);
    return NULL;
}

void toplatency_free(struct toplatency *l)
{
    if (!l)
        return;
    for (uint32_t i = 0; i < l->t->nnames; i++)
        free(l->of[i]);
    free(l->of);
    free(l->seen);
    free(l);
}

/* The sleep of that rank, in nanoseconds. */
static uint64_t percentile(const struct toplatency *l, const struct sleeps *s, double share)
{
    double rank = ceil(s->known * share / 100), sum = 0;

    for (uint32_t i = 0; i < l->classes && rank < s->known; i++) {
        sum += s->of_class[i];
        if (sum >= rank) {
            uint64_t middle = sleepclass_middle(l->lowest + i);

            return middle < s->longest ? middle : s->longest;
        }
    }
    return s->longest;
}

/* Nanoseconds of one of the columns; 0: it has no sleeps. */
static uint64_t column(const struct toplatency *l, uint32_t name, size_t which)
{
    const struct sleeps *s = l->of[name];

    if (!s)
        return 0;
    return which < ARRAY_LEN(shares) ? percentile(l, s, shares[which]) : s->longest;
}

struct order {
    const struct toplatency *l;
    size_t column;
};

static int by_latency(const void *pa, const void *pb, void *arg)
{
    const struct top_row *a = pa, *b = pb;
    const struct order *o = arg;
    uint64_t x = column(o->l, a->name, o->column), y = column(o->l, b->name, o->column);
    double p = folded_count_double(a->total), q = folded_count_double(b->total);
    uint32_t ra = o->l->t->names[a->name].rank, rb = o->l->t->names[b->name].rank;

    if (x != y)
        return x > y ? -1 : 1;
    return p > q ? -1 : p < q ? 1 : ra < rb ? -1 : ra > rb;
}

void toplatency_sort(const struct toplatency *l, enum top_sort sort, struct top_row *rows, size_t n)
{
    struct order order = {l, (size_t)(sort - TOP_BY_P50)};

    qsort_r(rows, n, sizeof *rows, by_latency, &order);
}

void toplatency_add_columns(struct strbuf *sb)
{
    static const char *const names[] = {"p50", "p95", "p99", "max"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        toptext_add_right(sb, names[i], COLUMN_WIDTH);
}

void toplatency_add(const struct toplatency *l, uint32_t name, struct strbuf *sb)
{
    for (size_t i = 0; i <= ARRAY_LEN(shares); i++) {
        struct folded_count ns = {.whole = column(l, name, i)};

        if (l->of[name])
            toptext_add_value(sb, ns, "ns", false, COLUMN_WIDTH);
        else
            toptext_add_right(sb, "", COLUMN_WIDTH);
    }
}

void toplatency_add_unknown(const struct toplatency *l, struct strbuf *sb)
{
    if (l->unknown > 0)
        strbuf_addf(sb, "; of %.0f of %.0f sleeps it is not known how long they took", l->unknown,
                    l->known + l->unknown);
}
