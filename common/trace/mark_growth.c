/*
 * Marks list the rows that have changed, so the amounts of all rows are followed from mark to mark;
 * rows of one stack (in several threads, or of several names of one file) are one sum.
 */
#include "common/trace/mark_growth.h"

#include <stdlib.h>

#include <uthash.h>

#include "common/alloc.h"
#include "common/trace/trace_builder.h"
#include "common/trace/trace_identity.h"

#define POINTS (TRACE_MARKS_KEPT + 1)

/* ---- points ---- */

static int by_value(const void *pa, const void *pb)
{
    double a = *(const double *)pa, b = *(const double *)pb;

    return (a > b) - (a < b);
}

/* Sorts the values; n is not 0. */
static double median(double *v, size_t n)
{
    qsort(v, n, sizeof *v, by_value);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static double median_of(const double *v, size_t n)
{
    double copy[POINTS];

    memcpy(copy, v, n * sizeof *v);
    return median(copy, n);
}

static double median_slope(const double *x, const double *y, size_t n)
{
    double *slopes = xcalloc(n * (n - 1) / 2, sizeof *slopes), slope;
    size_t pairs = 0;

    for (size_t j = 1; j < n; j++)
        for (size_t i = 0; i < j; i++)
            if (x[j] > x[i])
                slopes[pairs++] = (y[j] - y[i]) / (x[j] - x[i]);
    slope = pairs ? median(slopes, pairs) : 0;
    free(slopes);
    return slope;
}

static double distance(double a, double b)
{
    return a < b ? b - a : a - b;
}

static double fit_of(const double *x, const double *y, size_t n, double slope)
{
    double rest[POINTS], at_0, middle = median_of(y, n), from_line = 0, from_middle = 0;

    for (size_t i = 0; i < n; i++)
        rest[i] = y[i] - slope * x[i];
    at_0 = median_of(rest, n);
    for (size_t i = 0; i < n; i++) {
        from_line += distance(rest[i], at_0);
        from_middle += distance(y[i], middle);
    }
    return from_middle > 0 ? 1 - from_line / from_middle : 0;
}

struct growth_line growth_judge(const double *x, const double *y, size_t n)
{
    struct growth_line l = {.slope = 0};
    size_t third, last;
    double left, right, x_middle, y_middle;

    if (n < GROWTH_MARKS || n > POINTS)
        return l;
    x += n / 4;
    y += n / 4;
    n -= n / 4;
    third = n / 3;
    last = n - third;
    x_middle = median_of(x + third, last - third);
    y_middle = median_of(y + third, last - third);
    left = (y_middle - median_of(y, third)) / (x_middle - median_of(x, third));
    right = (median_of(y + last, third) - y_middle) / (median_of(x + last, third) - x_middle);
    /* Most stacks end here, before the expensive part. Times may be equal: then the slope is no
     * number.
     */
    if (!(left > 0 && right > 0))
        return l;
    l.slope = median_slope(x, y, n);
    l.fit = fit_of(x, y, n, l.slope);
    l.grows = l.slope > 0 && left >= GROWTH_HALF * l.slope && right >= GROWTH_HALF * l.slope &&
              l.fit >= GROWTH_FIT;
    return l;
}

/* ---- stacks ---- */

struct amount {
    int64_t bytes, blocks;
};

/* One stack, in any threads. */
struct stack {
    uint64_t identity;
    uint32_t row; /* one row of the stack */
    size_t at;    /* in the array of sums */
    UT_hash_handle hh;
};

struct growing {
    struct trace *t;
    struct stack *by_identity;
    struct stack **stacks; /* by their sums' place */
    size_t nstacks, stacks_room;
    struct stack **of_row;   /* by row; NULL: not looked up yet, or of no stack that counts */
    struct amount *row_live; /* by row, at the last mark */
    struct amount *sums;     /* by stack */
    size_t sums_room;
    bool *reported; /* by stack */
};

/* The marks of one name. */
struct series {
    const char *name;
    uint64_t step;
    double x[POINTS];
    struct amount *y[POINTS]; /* by stack, for the stacks known by then */
    size_t known[POINTS];
    size_t n;
};

static struct stack *stack_of(struct growing *g, uint32_t row)
{
    const struct trace_row *r = &g->t->rows[row];
    struct stack *s;
    uint64_t identity;

    if (g->of_row[row] || !trace_row_used(r) || !trace_row_is_counter(r->flags))
        return g->of_row[row];
    identity = trace_stack_identity(g->t, r->node);
    HASH_FIND(hh, g->by_identity, &identity, sizeof identity, s);
    if (!s) {
        s = xcalloc(1, sizeof *s);
        *s = (struct stack){.identity = identity, .row = row, .at = g->nstacks};
        HASH_ADD(hh, g->by_identity, identity, sizeof s->identity, s);
        GROW(g->stacks, g->nstacks, g->stacks_room);
        GROW_FILLED(g->sums, g->nstacks, g->sums_room, 0);
        g->sums[g->nstacks] = (struct amount){0, 0};
        g->stacks[g->nstacks++] = s;
    }
    return g->of_row[row] = s;
}

/* A damaged trace may hold any numbers: sums are modulo 2^64. */
static void add(int64_t *to, int64_t now, int64_t before)
{
    *to = (int64_t)((uint64_t)*to + (uint64_t)now - (uint64_t)before);
}

static void follow(struct growing *g, const struct trace_mark_view *m)
{
    for (size_t i = 0; i < m->n; i++) {
        const struct trace_mark_entry *e = &m->entries[i];
        struct stack *s = e->row < g->t->row_limit ? stack_of(g, e->row) : NULL;
        struct amount *live;

        if (!s)
            continue;
        live = &g->row_live[e->row];
        add(&g->sums[s->at].bytes, e->bytes, live->bytes);
        add(&g->sums[s->at].blocks, e->blocks, live->blocks);
        *live = (struct amount){e->bytes, e->blocks};
    }
}

static void take(struct growing *g, struct series *s, const struct trace_mark_view *m)
{
    if (m->number % s->step || s->n == POINTS || (s->n && m->at <= s->x[s->n - 1]))
        return;
    s->x[s->n] = m->at;
    s->y[s->n] = xcalloc(g->nstacks, sizeof *s->y[0]);
    if (g->nstacks)
        memcpy(s->y[s->n], g->sums, g->nstacks * sizeof *g->sums);
    s->known[s->n++] = g->nstacks;
}

/* ---- rows ---- */

/* A damaged trace may have any number: one that is too large for an integer becomes 0. */
static uint64_t whole(double n)
{
    return n > 0 && n < 0x1p63 ? (uint64_t)n : 0;
}

static uint64_t rounded_up(double n)
{
    /* Rounding error: a quotient within 1e-6 above an integer is that integer. */
    return whole(n) + (n < 0x1p53 && n - (double)whole(n) > 1e-6);
}

static void add_row(struct growing *g, const struct series *s, size_t stack, double bytes,
                    double blocks, double fit)
{
    struct trace_builder grow = trace_builder_begin(g->t);
    struct trace_row row = {.flags = TRACE_ROW_GROWTH,
                            .alloc_bytes = rounded_up(bytes),
                            .alloc_calls = rounded_up(blocks),
                            .free_bytes = (uint64_t)(fit * 1e6 + 0.5),
                            .free_calls = whole(s->x[s->n - 1] - s->x[0] + 0.5),
                            .temp_calls = 1};

    row.node = g->t->rows[g->stacks[stack]->row].node;
    row.thread = g->t->rows[g->stacks[stack]->row].thread;
    if (!row.alloc_calls)
        row.alloc_calls = 1;
    trace_builder_row(&grow, &row);
    g->reported[stack] = true;
}

static void judge(struct growing *g, const struct series *s, size_t stack)
{
    double bytes[POINTS], blocks[POINTS];
    struct growth_line of_bytes, of_blocks;

    for (size_t i = 0; i < s->n; i++) {
        bool known = stack < s->known[i];

        bytes[i] = known ? (double)s->y[i][stack].bytes : 0;
        blocks[i] = known ? (double)s->y[i][stack].blocks : 0;
    }
    of_bytes = growth_judge(s->x, bytes, s->n);
    if (!of_bytes.grows && bytes[s->n - 1] > bytes[s->n / 4])
        return;
    of_blocks = growth_judge(s->x, blocks, s->n);
    if (of_bytes.grows)
        add_row(g, s, stack, of_bytes.slope, of_blocks.slope, of_bytes.fit);
    else if (of_blocks.grows && bytes[s->n - 1] >= bytes[s->n / 4])
        add_row(g, s, stack, 0, of_blocks.slope, of_blocks.fit);
}

/* ---- names ---- */

static struct series *series_of(struct series **list, size_t *n, size_t *room, const char *name)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp((*list)[i].name, name) == 0)
            return &(*list)[i];
    GROW(*list, *n, *room);
    (*list)[*n] = (struct series){.name = name, .step = 1};
    return &(*list)[(*n)++];
}

static void drop_old(struct trace *t)
{
    struct trace_builder grow = trace_builder_begin(t);

    for (uint32_t id = 0; id < t->row_limit; id++)
        if (t->rows[id].flags & TRACE_ROW_GROWTH)
            trace_builder_row_at(&grow, id)->node = 0;
}

static void release(struct growing *g)
{
    HASH_CLEAR(hh, g->by_identity);
    for (size_t i = 0; i < g->nstacks; i++)
        free(g->stacks[i]);
    free(g->stacks);
    free(g->of_row);
    free(g->row_live);
    free(g->sums);
    free(g->reported);
}

static void judge_all(struct growing *g, struct series *s, size_t n)
{
    g->reported = xcalloc(g->nstacks, sizeof *g->reported);
    for (size_t i = 0; i < n; i++) {
        if (s[i].n >= GROWTH_MARKS)
            g->t->header.features |= TRACE_FEATURE_GROWTH;
        for (size_t stack = 0; s[i].n >= GROWTH_MARKS && stack < g->nstacks; stack++)
            if (!g->reported[stack])
                judge(g, &s[i], stack);
        for (size_t k = 0; k < s[i].n; k++)
            free(s[i].y[k]);
    }
}

void trace_growth(struct trace *t)
{
    struct growing g = {.t = t};
    struct series *list = NULL;
    size_t n = 0, room = 0;

    if (t->header.recorder != TRACE_RECORDER_MEM)
        return;
    drop_old(t);
    t->header.features &= ~(uint32_t)TRACE_FEATURE_GROWTH;
    t->most_marks = 0;
    for (size_t i = 0; i < t->nmarks; i++) {
        struct series *s = series_of(&list, &n, &room, t->marks[i].name);
        uint64_t step = trace_mark_step(t->marks[i].number);

        if (step > s->step)
            s->step = step;
        if (t->marks[i].number + 1 > t->most_marks)
            t->most_marks = t->marks[i].number + 1;
    }
    g.of_row = xcalloc(t->row_limit, sizeof(struct stack *));
    g.row_live = xcalloc(t->row_limit, sizeof *g.row_live);
    for (size_t i = 0; i < t->nmarks; i++) {
        follow(&g, &t->marks[i]);
        take(&g, series_of(&list, &n, &room, t->marks[i].name), &t->marks[i]);
    }
    judge_all(&g, list, n);
    release(&g);
    free(list);
}
