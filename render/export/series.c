#include "render/export/series.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#include "common/alloc.h"

struct folded_count series_count(double v)
{
    if (!(v > 0))
        return (struct folded_count){0, 0};
    if (v >= 18446744073709551615.0)
        return (struct folded_count){UINT64_MAX, 0};
    return (struct folded_count){(uint64_t)v, v - floor(v)};
}

/* The name of a series, as formats with names of values accept it. */
static char *make_name(const struct render_column *c, const char *suffix)
{
    struct strbuf sb = STRBUF_INIT;

    strbuf_addstr(&sb, *c->name ? c->name : c->unit);
    for (size_t i = 0; i < sb.len; i++)
        if (!isalnum((unsigned char)sb.buf[i]))
            sb.buf[i] = '_';
    if (sb.len == 0)
        strbuf_addstr(&sb, "samples");
    strbuf_addstr(&sb, suffix);
    return strbuf_detach(&sb, NULL);
}

/* The value without factor. */
static struct folded_count raw_self(const struct series_set *set, const struct series *s,
                                    uint32_t node)
{
    struct folded_count c;

    if (s->column)
        return series_count(set->t->columns[s->column - 1][node]);
    c = frametree_self(set->t, node);
    if (s->before && set->t->delta[node] != 0)
        return series_count(folded_count_double(c) - set->t->delta[node]);
    return c;
}

static void sum(struct series_set *set, struct series *s)
{
    uint32_t n = set->t->n;

    s->totals = xreallocarray(NULL, n, sizeof(double));
    for (uint32_t i = 0; i < n; i++)
        s->totals[i] = folded_count_double(raw_self(set, s, i));
    for (uint32_t i = n - 1; i > 0; i--) /* callers have lower numbers */
        s->totals[set->t->nodes[i].parent] += s->totals[i];
}

/* Makes the name of a series unique, as formats tell series apart by name. */
static void make_unlike(struct series_set *set, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (strcmp(set->s[k].name, set->s[i].name) == 0) {
            struct strbuf sb = STRBUF_INIT;

            strbuf_addf(&sb, "%s_%u", set->s[i].name, i + 1);
            free(set->s[i].name);
            set->s[i].name = strbuf_detach(&sb, NULL);
            k = UINT32_MAX; /* begin again */
        }
}

void series_init(struct series_set *set, const struct frametree *t, const struct render_options *o,
                 unsigned want)
{
    *set = (struct series_set){.t = t, .factor = o->factor};
    set->compares = (want & SERIES_BOTH_SIDES) && t->delta;
    set->n = (uint32_t)o->ncolumns + set->compares;
    set->s = xcalloc(set->n, sizeof *set->s);
    for (uint32_t i = 0; i < set->n; i++) {
        uint32_t column = set->compares && i > 0 ? i - 1 : i;
        const struct render_column *c = &o->columns[column];
        struct series *s = &set->s[i];

        s->before = set->compares && i == 1;
        s->column = column;
        s->name = make_name(c, s->before ? "_before" : "");
        s->title = column == 0 || !*c->title ? o->title : c->title;
        s->unit = c->unit;
        make_unlike(set, i);
        if ((want & SERIES_TOTALS) && i > 0)
            sum(set, s);
    }
}

void series_release(struct series_set *set)
{
    for (uint32_t i = 0; i < set->n; i++) {
        free(set->s[i].name);
        free(set->s[i].totals);
    }
    free(set->s);
    *set = (struct series_set){0};
}

static struct folded_count scaled(const struct series_set *set, struct folded_count c)
{
    return set->factor == 1 ? c : series_count(folded_count_double(c) * set->factor);
}

struct folded_count series_self(const struct series_set *set, uint32_t i, uint32_t node)
{
    return scaled(set, raw_self(set, &set->s[i], node));
}

struct folded_count series_total(const struct series_set *set, uint32_t i, uint32_t node)
{
    const double *totals = set->s[i].totals;

    return scaled(set, totals ? series_count(totals[node]) : frametree_total(set->t, node));
}

bool series_any_self(const struct series_set *set, uint32_t node)
{
    for (uint32_t i = 0; i < set->n; i++)
        if (!series_is_zero(series_self(set, i, node)))
            return true;
    return false;
}

bool series_has_fractions(const struct series_set *set, uint32_t i)
{
    for (uint32_t node = 0; node < set->t->n; node++)
        if (series_self(set, i, node).part > 0)
            return true;
    return false;
}

int64_t series_round(struct folded_count c, double *carry)
{
    double part = c.part + *carry;

    /* A carry below zero is what was rounded up before. */
    if (part >= 0.5) {
        c.whole += c.whole < UINT64_MAX;
        part -= 1;
    }
    *carry = part;
    return c.whole < INT64_MAX ? (int64_t)c.whole : INT64_MAX;
}
