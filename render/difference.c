/*
 * Comparisons: one tree, two counts a node.
 *
 * Widths other than the counts after need totals summed anew, which is one pass. The elided view
 * needs another tree: paths of which nothing is left are there a second time with their callers,
 * below a frame at the right of everything. Two walks write the nodes in pre-order, first the
 * paths that exist, then those that are gone, with their callers; so parents stay before their
 * children and the frame at the right is the last.
 *
 * Rejected: moving lines while they are read. Whether a path is gone is known only when all
 * lines are there.
 */
#include "render/difference.h"

#include <math.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "render/frametree_order.h"

static const char only_before[] = "[only before]";

static const char *const widths_names[] = {"after", "before", "either", "elided"};
static const char *const colors_names[] = {"absolute", "relative", "ratio"};

bool difference_find_widths(const char *name, enum difference_widths *w)
{
    for (size_t i = 0; i < ARRAY_LEN(widths_names); i++)
        if (strcmp(name, widths_names[i]) == 0) {
            *w = (enum difference_widths)i;
            return true;
        }
    return false;
}

bool difference_find_colors(const char *name, enum difference_colors *c)
{
    for (size_t i = 0; i < ARRAY_LEN(colors_names); i++)
        if (strcmp(name, colors_names[i]) == 0) {
            *c = (enum difference_colors)i;
            return true;
        }
    return false;
}

const char *difference_widths_name(enum difference_widths w)
{
    return widths_names[w];
}

const char *difference_colors_name(enum difference_colors c)
{
    return colors_names[c];
}

/* The count before. It is exact where doubles are, also for whole changes beyond 2^53. */
static struct folded_count count_before(struct folded_count after, double delta)
{
    double v = folded_count_double(after) - delta;

    if (v <= 0)
        return (struct folded_count){0, 0};
    if (delta == floor(delta) && fabs(delta) < 0x1p53) {
        uint64_t by = (uint64_t)fabs(delta), whole = after.whole;

        if (delta > 0 && whole >= by)
            return (struct folded_count){whole - by, after.part};
        if (delta <= 0 && whole + by >= whole)
            return (struct folded_count){whole + by, after.part};
    }
    if (v >= 0x1p64)
        return (struct folded_count){UINT64_MAX, 0};
    return (struct folded_count){(uint64_t)v, v - floor(v)};
}

static void set_self(struct frametree *t, uint32_t node, struct folded_count c)
{
    t->nodes[node].self = c.whole;
    if (c.part > 0 && !t->self_part)
        t->self_part = xcalloc(t->n, sizeof(double));
    if (t->self_part)
        t->self_part[node] = c.part;
}

static bool is_there(const struct frametree *t, uint32_t node)
{
    return folded_count_double(frametree_total(t, node)) > 0;
}

/* Counts before, by node, of the nodes at and below it that are gone. NULL: none is gone. */
static double *sum_gone(const struct frametree *t)
{
    double *gone = xcalloc(t->n, sizeof *gone);

    for (uint32_t i = t->n - 1; i > 0; i--) {
        if (!is_there(t, i))
            gone[i] += t->was[i];
        gone[t->nodes[i].parent] += gone[i];
    }
    if (gone[0] > 0)
        return gone;
    free(gone);
    return NULL;
}

/* Nodes of the new tree as they are written. */
struct copy {
    struct frametree_node *nodes;
    double *part, *was, *now, *delta, *lost;
    uint8_t *role;
    uint32_t *open; /* by depth: the last node written there */
    size_t open_alloc;
    uint32_t n;
};

static void copy_node(struct copy *c, uint32_t name, uint32_t depth, double was, double now,
                      enum difference_role role)
{
    GROW(c->open, depth + 1, c->open_alloc);
    c->nodes[c->n] = (struct frametree_node){.name = name,
                                             .parent = depth ? c->open[depth - 1] : FRAMETREE_NONE,
                                             .first = FRAMETREE_NONE,
                                             .next = FRAMETREE_NONE};
    c->was[c->n] = was;
    c->now[c->n] = now;
    c->delta[c->n] = now - was;
    c->role[c->n] = (uint8_t)role;
    c->open[depth] = c->n++;
}

static enum difference_role role_of(const struct change *totals, uint32_t node)
{
    return node && totals[node].was <= 0 ? DIFFERENCE_NEW : DIFFERENCE_BOTH;
}

/* The count before, of a node's callees that are gone. */
static double lost_below(const struct frametree *t, const double *gone, uint32_t node)
{
    double sum = 0;

    for (uint32_t i = t->nodes[node].first; i != FRAMETREE_NONE; i = t->nodes[i].next)
        if (!is_there(t, i))
            sum += gone[i];
    return sum;
}

static void copy_there(struct copy *c, const struct frametree *t, const struct change *totals,
                       const double *gone)
{
    uint32_t depth = 0;
    bool descend;

    for (uint32_t i = 0; i != FRAMETREE_NONE; i = frametree_next(t, i, descend, &depth)) {
        descend = i == 0 || is_there(t, i);
        if (!descend)
            continue;
        copy_node(c, t->nodes[i].name, depth, t->was[i], t->now[i], role_of(totals, i));
        c->nodes[c->n - 1].self = t->nodes[i].self;
        c->part[c->n - 1] = t->self_part ? t->self_part[i] : 0;
        c->lost[c->n - 1] = lost_below(t, gone, i);
    }
}

static void copy_gone(struct copy *c, const struct frametree *t, const double *gone)
{
    uint32_t depth = 0;
    bool descend;

    for (uint32_t i = 0; i != FRAMETREE_NONE; i = frametree_next(t, i, descend, &depth)) {
        double was = is_there(t, i) ? 0 : t->was[i];

        descend = gone[i] > 0;
        if (!descend || i == 0)
            continue;
        copy_node(c, t->nodes[i].name, depth + 1, was, 0, DIFFERENCE_GONE);
        c->nodes[c->n - 1].self = was < 0x1p64 ? (uint64_t)was : UINT64_MAX;
        c->part[c->n - 1] = was < 0x1p64 ? was - floor(was) : 0;
    }
}

static void elide(struct frametree *t)
{
    struct change *totals = difference_totals(t);
    double *gone = sum_gone(t);
    size_t most = 2 * (size_t)t->n + 1;
    struct copy c = {0};

    t->role = xcalloc(most, 1);
    for (uint32_t i = 0; !gone && i < t->n; i++)
        t->role[i] = (uint8_t)role_of(totals, i);
    if (!gone) {
        free(totals);
        return;
    }
    c.role = t->role;
    c.nodes = xcalloc(most, sizeof *c.nodes);
    c.part = xcalloc(most, sizeof(double));
    c.was = xcalloc(most, sizeof(double));
    c.now = xcalloc(most, sizeof(double));
    c.delta = xcalloc(most, sizeof(double));
    c.lost = xcalloc(most, sizeof(double));
    t->names = xreallocarray(t->names, (size_t)t->nnames + 1, sizeof *t->names);
    t->names[t->nnames] =
        (struct frametree_name){.s = only_before, .len = sizeof only_before - 1, .rank = t->nnames};
    copy_there(&c, t, totals, gone);
    copy_node(&c, t->nnames++, 1, 0, 0, DIFFERENCE_GONE);
    copy_gone(&c, t, gone);
    free(c.open);
    free(totals);
    free(gone);
    free(t->nodes);
    free(t->self_part);
    free(t->was);
    free(t->now);
    free(t->delta);
    t->nodes = c.nodes;
    t->n = c.n;
    t->self_part = c.part;
    t->was = c.was;
    t->now = c.now;
    t->delta = c.delta;
    t->lost = c.lost;
    frametree_list_siblings(t);
    frametree_sum(t);
}

void difference_apply(struct frametree *t, enum difference_widths w)
{
    t->was = xcalloc(t->n, sizeof(double));
    t->now = xcalloc(t->n, sizeof(double));
    for (uint32_t i = 0; i < t->n; i++) {
        struct folded_count before = count_before(frametree_self(t, i), t->delta[i]);

        t->now[i] = folded_count_double(frametree_self(t, i));
        t->was[i] = folded_count_double(before);
        if (w == DIFFERENCE_BEFORE || (w == DIFFERENCE_EITHER && t->was[i] > t->now[i]))
            set_self(t, i, before);
    }
    if (w == DIFFERENCE_BEFORE || w == DIFFERENCE_EITHER)
        frametree_sum(t);
    else if (w == DIFFERENCE_ELIDED)
        elide(t);
}

double difference_before(const struct frametree *t)
{
    double before = t->was ? 0 : folded_count_double(frametree_total(t, 0));

    for (uint32_t i = 0; i < t->n; i++)
        before += t->was ? t->was[i] : -t->delta[i];
    return before;
}

struct change *difference_totals(const struct frametree *t)
{
    struct change *c = xcalloc(t->n, sizeof *c);

    for (uint32_t i = t->n; i-- > 0;) {
        c[i].was += t->was[i];
        c[i].now += t->now[i];
        /* The root has it already, from the part at the right. */
        if (t->lost && i > 0)
            c[i].was += t->lost[i];
        if (i > 0) {
            c[t->nodes[i].parent].was += c[i].was;
            c[t->nodes[i].parent].now += c[i].now;
        }
    }
    for (uint32_t i = 1; t->lost && i < t->n; i++)
        c[0].was -= t->lost[i];
    return c;
}

double difference_share(enum difference_colors c, struct change v, struct change all,
                        double largest)
{
    double d = v.now - v.was;

    switch (c) {
    case DIFFERENCE_RELATIVE:
        return d == 0 ? 0 : d / fmax(v.now, v.was);
    case DIFFERENCE_RATIO: /* a factor of four, up or down, is the full colour */
        if (all.was <= 0 || all.now <= 0 || (v.was <= 0 && v.now <= 0))
            return 0;
        if (v.was <= 0 || v.now <= 0)
            return v.was <= 0 ? 1 : -1;
        return fmax(-1, fmin(1, log2(v.now / v.was / (all.now / all.was)) / 2));
    default:
        return largest > 0 ? fmax(-1, fmin(1, d / largest)) : 0;
    }
}
