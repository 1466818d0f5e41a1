/*
 * A change is two numbers of 7 bits a byte (trace_put_number): the row, and the bytes with their
 * sign folded in. Four to six bytes where a struct would be sixteen: a build of a thousand
 * processes has some million of them.
 */
#include "common/trace/trace_timeline.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/trace/trace_reader_impl.h"
#include "common/trace/trace_moments.h"
#include "common/trace/wrapping.h"

#define US ((uint64_t)1000)

struct trace_timeline *trace_timeline_new(void)
{
    struct trace_timeline *tl = xcalloc(1, sizeof *tl);

    tl->changes = (struct strbuf)STRBUF_INIT;
    return tl;
}

void trace_timeline_free(struct trace_timeline *tl)
{
    if (!tl)
        return;
    for (size_t i = 0; i < tl->nmarks; i++)
        free(tl->marks[i].name);
    free(tl->marks);
    free(tl->steps);
    strbuf_release(&tl->changes);
    free(tl);
}

/* A process that is being added to a timeline. */
struct adding {
    struct trace_timeline *tl;
    const struct trace *t;
    const uint32_t *row_of;
    uint64_t *now; /* bytes by row of the trace */
    int64_t live, mapped, rss;
};

static struct trace_step *begin_step(struct trace_timeline *tl, uint64_t ns)
{
    GROW(tl->steps, tl->n, tl->room);
    tl->steps[tl->n] = (struct trace_step){.ns = ns, .at = tl->changes.len};
    return &tl->steps[tl->n++];
}

/* Adds a change to the step, if the row counts blocks or mappings. */
static void put_change(struct adding *a, struct trace_step *s, uint32_t row, uint64_t bytes)
{
    const struct trace_row *r = &a->t->rows[row];
    uint32_t to = a->row_of ? a->row_of[row] : row;
    uint8_t entry[20], *at = entry;

    if (!trace_row_used(r) || !bytes || !(trace_row_counts(r) || r->flags & TRACE_ROW_MAPPED))
        return;
    a->now[row] += bytes;
    if (r->flags & TRACE_ROW_MAPPED)
        s->mapped = wrapping_add(s->mapped, (int64_t)bytes);
    else
        s->live = wrapping_add(s->live, (int64_t)bytes);
    if (!to)
        return;
    at = trace_put_number(at, to);
    at = trace_put_number(at, trace_fold_sign(bytes));
    strbuf_add(&a->tl->changes, entry, (size_t)(at - entry));
    s->entries++;
}

/* Adds the inherited blocks, which are live from the beginning. */
static void add_inherited(struct adding *a)
{
    struct trace_step *s;

    if (a->t->priv->rows_read >= a->t->row_limit)
        return;
    s = begin_step(a->tl, a->t->header.start_monotonic_ns);
    for (uint32_t id = a->t->priv->rows_read; id < a->t->row_limit; id++)
        if (a->t->rows[id].flags & TRACE_ROW_INHERITED)
            put_change(a, s, id, a->t->rows[id].alloc_bytes);
}

static void add_moment(struct adding *a, const struct trace_moment_view *m)
{
    struct trace_step *s = begin_step(a->tl, m->m.monotonic_ns);
    struct trace_changes c;
    struct trace_change one;

    trace_changes_begin(&c, m);
    while (trace_changes_next(&c, &one))
        if (one.row < a->t->row_limit)
            put_change(a, s, one.row, one.bytes);
    if (m->m.rss_bytes) {
        s->rss = (int64_t)(m->m.rss_bytes - (uint64_t)a->rss);
        a->rss = (int64_t)m->m.rss_bytes;
    }
}

static void add_end(struct adding *a, uint64_t ns)
{
    struct trace_step *s = begin_step(a->tl, ns);

    s->end = true;
    s->rss = -a->rss;
    for (uint32_t id = 0; id < a->t->row_limit; id++)
        if (a->now[id])
            put_change(a, s, id, 0 - a->now[id]);
}

static void add_marks(struct adding *a)
{
    struct trace_timeline *tl = a->tl;

    for (size_t i = 0; i < a->t->nmarks; i++) {
        if (!a->t->marks[i].monotonic_ns)
            continue;
        GROW(tl->marks, tl->nmarks, tl->marks_room);
        tl->marks[tl->nmarks++] = (struct trace_timeline_mark){
            .ns = a->t->marks[i].monotonic_ns, .name = xstrdup(a->t->marks[i].name)};
    }
}

void trace_timeline_add(struct trace_timeline *tl, const struct trace *t, const uint32_t *row_of)
{
    struct adding a = {.tl = tl, .t = t, .row_of = row_of};
    const struct trace_moment_view *last;

    add_marks(&a);
    if (!t->nmoments)
        return;
    last = &t->moments[t->nmoments - 1];
    if (!tl->zero_ns || t->time_zero_ns < tl->zero_ns)
        tl->zero_ns = t->time_zero_ns;
    a.now = xcalloc(t->row_limit, sizeof *a.now);
    add_inherited(&a);
    for (size_t i = 0; i < t->nmoments; i++)
        add_moment(&a, &t->moments[i]);
    if (last->m.flags & TRACE_MOMENT_LAST)
        add_end(&a, last->m.monotonic_ns + US);
    free(a.now);
}

bool trace_step_next(struct trace_step_changes *c, uint32_t *row, int64_t *bytes)
{
    uint64_t id, folded;

    if (!c->left || !trace_take_number(&c->at, c->end, &id) ||
        !trace_take_number(&c->at, c->end, &folded))
        return false;
    c->left--;
    *row = (uint32_t)id;
    *bytes = (int64_t)trace_unfold_sign(folded);
    return true;
}
