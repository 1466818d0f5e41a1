/*
 * Rules about change: steady growth in one run, and changes between two runs.
 *
 * A run is cut into PARTS of equal length. The first two are its start, in which all programs
 * grow. A function grows steadily if it has more at the end of most of the other parts than of
 * the part before, and never much less, and if no single part brought most of the growth: that
 * would be one large block, not growth.
 */
#include "render/findings/findingrules.h"

#include <math.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "render/text/value.h"

#define PARTS 8
#define START 2           /* parts that are the start */
#define MOMENTS_LEAST 6   /* fewer moments cannot show steady growth */
#define RISES_LEAST 5     /* of the PARTS - START */
#define FALL_MOST 0.1     /* of the growth, in any part */
#define RISE_MOST 0.6     /* likewise */
#define GROWTH_LEAST 0.05 /* of what is live at the end */
#define GROWTH_BYTES 4096.0
#define CHANGE_LEAST 0.001 /* of the count before */

struct levels {
    double at[PARTS]; /* at the end of each */
};

/* ---- in one run ---- */

static const struct timeline_history *first_live(const struct timeline *tl, size_t *n)
{
    size_t i = 0;

    while (i < tl->nhistories && tl->histories[i].kind != TIMELINE_LIVE)
        i++;
    for (*n = 0; i + *n < tl->nhistories && tl->histories[i + *n].kind == TIMELINE_LIVE;)
        ++*n;
    return tl->histories + i;
}

/* The levels of each function, and those of all together as function 0. */
static struct levels *levels_of(struct look *k, uint32_t column, const uint8_t *part)
{
    const struct timeline *tl = k->o->timeline;
    struct levels *levels = xcalloc(k->nfunctions, sizeof *levels);
    size_t n;
    const struct timeline_history *h = first_live(tl, &n);

    for (size_t i = 0; i < n; i++) {
        uint32_t node = h[i].node == TIMELINE_NOWHERE ? 0 : look_owner(k, column, h[i].node);
        uint32_t f = node ? k->function[k->t->nodes[node].name] : 0;

        for (size_t c = h[i].first; c < h[i].first + h[i].nn; c++) {
            double by = (double)tl->changes[c].bytes;

            levels[0].at[part[tl->changes[c].moment]] += by;
            if (f)
                levels[f].at[part[tl->changes[c].moment]] += by;
        }
    }
    for (uint32_t f = 0; f < k->nfunctions; f++)
        for (size_t p = 1; p < PARTS; p++)
            levels[f].at[p] += levels[f].at[p - 1];
    return levels;
}

static double growth_of(const struct levels *l)
{
    return l->at[PARTS - 1] - l->at[START - 1];
}

static bool is_steady(const struct levels *l)
{
    double growth = growth_of(l);
    int rises = 0;

    for (size_t p = START; p < PARTS; p++) {
        double by = l->at[p] - l->at[p - 1];

        if (by < -FALL_MOST * growth || by > RISE_MOST * growth)
            return false;
        rises += by > 0;
    }
    return growth > 0 && rises >= RISES_LEAST;
}

static uint32_t steadiest(const struct levels *levels, uint32_t n)
{
    uint32_t best = 0;

    for (uint32_t f = 1; f < n; f++)
        if (is_steady(&levels[f]) && (!best || growth_of(&levels[f]) > growth_of(&levels[best])))
            best = f;
    return best;
}

/* The frame of that function with the most growth below it after the start. */
static uint32_t node_of(struct look *k, uint32_t column, uint32_t function, const uint8_t *part)
{
    const struct timeline *tl = k->o->timeline;
    uint32_t best = 0;
    size_t n;
    const struct timeline_history *h = first_live(tl, &n);

    for (size_t i = 0; i < n; i++) {
        uint32_t node = h[i].node == TIMELINE_NOWHERE ? 0 : look_owner(k, column, h[i].node);

        if (!node || k->function[k->t->nodes[node].name] != function)
            continue;
        for (size_t c = h[i].first; c < h[i].first + h[i].nn; c++)
            if (part[tl->changes[c].moment] >= START)
                k->sums[node] += (double)tl->changes[c].bytes;
        if (!best || k->sums[node] > k->sums[best])
            best = node;
    }
    for (uint32_t i = 0; i < k->t->n; i++)
        k->sums[i] = 0;
    return best;
}

static void add_moment(struct strbuf *sb, uint64_t us)
{
    if (!value_add_human(sb, (struct folded_count){.whole = us}, "us"))
        strbuf_addstr(sb, "the start");
}

void rule_grows(struct look *k, const struct rule *r, uint32_t column)
{
    const struct timeline *tl = k->o->timeline;
    struct strbuf sb = STRBUF_INIT;
    struct levels *levels;
    struct finding *f;
    uint64_t first, last, from;
    uint8_t *part;
    uint32_t best;

    if (!tl || tl->n < MOMENTS_LEAST)
        return;
    first = tl->moments[0].us;
    last = tl->moments[tl->n - 1].us;
    if (last <= first)
        return;
    from = first + (last - first) / PARTS * START;
    part = xcalloc(tl->n, sizeof *part);
    for (size_t i = 0; i < tl->n; i++)
        part[i] = (uint8_t)fmin(
            PARTS - 1, floor((double)(tl->moments[i].us - first) * PARTS / (double)(last - first)));
    levels = levels_of(k, column, part);
    best = steadiest(levels, k->nfunctions);
    if (best && growth_of(&levels[best]) >= GROWTH_BYTES &&
        growth_of(&levels[best]) >= GROWTH_LEAST * levels[0].at[PARTS - 1]) {
        uint32_t node = node_of(k, column, best, part);

        look_add_function(k, &sb, node);
        strbuf_addf(&sb, " %s: from ", r->says);
        look_add_amount(k, &sb, column, levels[best].at[START - 1]);
        strbuf_addstr(&sb, " at ");
        add_moment(&sb, from);
        strbuf_addstr(&sb, " to ");
        look_add_amount(k, &sb, column, levels[best].at[PARTS - 1]);
        strbuf_addstr(&sb, " at ");
        add_moment(&sb, last);
        f = look_say(k, r->name, r->base, &sb, column, node);
        f->timed = true;
        f->from_us = from;
        f->to_us = last;
    }
    free(part);
    free(levels);
}

/* ---- between two runs ---- */

/* Sums functions' own changes in one direction, `sign` 1 or -1; returns the total. */
static double changes_of(struct look *k, double sign, double *change)
{
    const struct frametree *t = k->t;
    double sum = 0;

    for (uint32_t i = 0; i < t->n; i++) {
        double by = sign * (t->now ? t->now[i] - t->was[i] : t->delta[i]);

        change[i] = by;
        sum += by;
    }
    return sum;
}

/* Finds the largest change. A function's change is the sum over all its frames, so that moving
 * between callers is none. */
static bool largest_change(struct look *k, uint32_t column, const double *change,
                           struct owner *best, double *same_way)
{
    double *functions = xcalloc(k->nfunctions, sizeof *functions);
    uint32_t f = 0;

    *best = (struct owner){0, 0, 0, 0};
    *same_way = 0;
    for (uint32_t i = 1; i < k->t->n; i++) {
        uint32_t at = change[i] != 0 ? look_owner(k, column, i) : 0;

        if (!at)
            continue;
        functions[k->function[k->t->nodes[at].name]] += change[i];
        k->sums[at] += change[i];
    }
    for (uint32_t i = 1; i < k->nfunctions; i++) {
        *same_way += functions[i] > 0 ? functions[i] : 0;
        if (functions[i] > functions[f])
            f = i;
    }
    for (uint32_t i = 1; i < k->t->n; i++) {
        if (f && k->sums[i] > best->part && k->function[k->t->nodes[i].name] == f) {
            best->part = k->sums[i];
            best->node = i;
        }
        k->sums[i] = 0;
    }
    best->function = f;
    best->sum = f ? functions[f] : 0;
    free(functions);
    return best->node != 0;
}

static void say_change(struct look *k, const struct rule *r, uint32_t column, double sign,
                       double was, double now)
{
    double *change = xcalloc(k->t->n, sizeof *change);
    double net = changes_of(k, sign, change), same_way;
    struct strbuf sb = STRBUF_INIT;
    struct owner o;

    if (largest_change(k, column, change, &o, &same_way) && o.sum >= CHANGE_LEAST * was) {
        look_add_function(k, &sb, o.node);
        strbuf_addstr(&sb, sign > 0 ? " grew by " : " shrank by ");
        look_add_amount(k, &sb, column, o.sum);
        strbuf_addstr(&sb, ", ");
        look_add_share(&sb, o.sum, same_way);
        strbuf_addstr(&sb,
                      sign > 0 ? " of what grew; in all from " : " of what shrank; in all from ");
        look_add_amount(k, &sb, column, was);
        strbuf_addstr(&sb, " to ");
        look_add_amount(k, &sb, column, now);
        look_say(k, r->name, r->base + (net > 0 ? 10 : 0), &sb, column, o.node);
    }
    free(change);
}

void rule_compare(struct look *k, const struct rule *r, uint32_t column)
{
    const struct frametree *t = k->t;
    double was = 0, now = 0;

    if (!t->delta || column)
        return;
    for (uint32_t i = 0; i < t->n; i++) {
        double after = t->now ? t->now[i] : k->first[i];

        now += after;
        was += t->now ? t->was[i] : after - t->delta[i];
    }
    say_change(k, r, column, 1, was, now);
    say_change(k, r, column, -1, was, now);
}
