#include "fold/analysis/chaintext.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/trace/varint_base64.h"

/* By number: rows, and the lives of threads. */
struct numbered {
    uint32_t *woke;  /* the first row with the same waker's stack, plus one */
    uint32_t *same;  /* the first row whose sleeps look the same, plus one; 0: it has no frames */
    uint32_t *first; /* the row that has its links, plus one */
    struct life {
        uint64_t begin, end; /* from zero; end 0: not known */
        uint32_t parent;     /* its number plus one */
    } * life;
    uint64_t whole_from; /* from zero */
};

uint32_t chaintext_number(struct chaintext_trace *t, uint32_t first)
{
    const struct chainsplit *c = t->split;

    if (!c)
        return first;
    t->link = xcalloc(c->n, sizeof *t->link);
    for (uint32_t row = 0; row < c->lines->t->row_limit; row++)
        for (uint32_t i = t->row[row] ? c->of_row[row] : 0; i; i = c->link[i].next)
            t->link[i] = 1;
    for (uint32_t i = 1; i < c->n; i++) /* in order, so that a link comes after the one below */
        if (t->link[i])
            t->link[i] = ++first;
    return first;
}

/* The first row of the text with each waker's stack, by the stack's node; for the caller to free.
 */
static uint32_t *first_rows(const struct chaintext_trace *t)
{
    const struct trace *trace = t->split->lines->t;
    uint32_t *first = xcalloc((size_t)trace->node_limit + 1, sizeof *first);

    for (uint32_t id = 0; id < trace->row_limit; id++) {
        uint32_t waker = t->row[id] ? t->split->waker[id] : 0;

        if (waker && !first[waker])
            first[waker] = t->row[id];
    }
    return first;
}

static void number_trace(const struct chaintext_trace *t, const uint32_t *first, uint64_t zero_ns,
                         struct numbered *n)
{
    const struct threadlines *lines = t->split->lines;
    const struct trace *trace = lines->t;

    for (uint32_t id = 0; id < trace->row_limit; id++) {
        if (!t->row[id])
            continue;
        n->woke[t->row[id] - 1] = first[t->split->waker[id]];
        if (!chainsplit_at_root(t->split, id))
            n->same[t->row[id] - 1] = t->row[t->split->same[id]];
        n->first[t->row[id] - 1] = t->row[chainsplit_first(t->split, id)];
    }
    for (uint32_t id = 0; id < trace->thread_limit; id++) {
        const struct thread_line *l = threadlines_of(lines, id);

        if (!l || !l->lived || !t->thread[id] || l->end <= zero_ns)
            continue;
        n->life[t->thread[id] - 1] =
            (struct life){.begin = l->begin > zero_ns ? l->begin - zero_ns : 0,
                          .end = l->end - zero_ns,
                          .parent = l->parent < trace->thread_limit ? t->thread[l->parent] : 0};
    }
    if (lines->whole_from_ns > zero_ns && lines->whole_from_ns - zero_ns > n->whole_from)
        n->whole_from = lines->whole_from_ns - zero_ns;
}

/* The number of what a link is of. */
static uint32_t subject_of(const struct chaintext_trace *t, const uint32_t *first,
                           const struct chainsplit_link *l)
{
    switch (l->kind) {
    case CHAINSPLIT_WAKER:
        return first[l->id];
    case CHAINSPLIT_CREATOR:
        return t->thread[l->id];
    case CHAINSPLIT_ROOT:
    case CHAINSPLIT_SLEEP:
        return t->row[l->id];
    default:
        return 0;
    }
}

static void add_links(struct varint_writer *p, const struct chaintext_trace *t,
                      const uint32_t *first)
{
    for (uint32_t i = 1; i < t->split->n; i++) {
        const struct chainsplit_link *l = &t->split->link[i];

        if (!t->link[i])
            continue;
        varint_add(p, (l->below ? t->link[i] - t->link[l->below] : 0) << 3 | l->kind);
        varint_add(p, subject_of(t, first, l));
    }
}

static void add_rows(struct strbuf *sb, const char *key, const uint32_t *of, uint32_t nrows)
{
    struct varint_writer p;

    strbuf_addf(sb, " %s=", key);
    varint_begin(&p, sb);
    for (uint32_t i = 0; i < nrows; i++)
        varint_add(&p, of[i]);
    varint_end(&p);
}

static void add_lives(struct strbuf *sb, const struct numbered *n, uint32_t nthreads)
{
    struct varint_writer p;

    strbuf_addstr(sb, " lives=");
    varint_begin(&p, sb);
    for (uint32_t i = 0; i < nthreads; i++) {
        varint_add(&p, n->life[i].begin);
        varint_add(&p, n->life[i].end - n->life[i].begin);
        varint_add(&p, n->life[i].parent);
    }
    varint_end(&p);
}

void chaintext_add(struct strbuf *sb, const struct chaintext_trace *traces, size_t ntraces,
                   uint32_t nrows, uint32_t nthreads, uint64_t zero_ns)
{
    struct numbered n = {.woke = xcalloc((size_t)nrows + 1, sizeof *n.woke),
                         .same = xcalloc((size_t)nrows + 1, sizeof *n.same),
                         .first = xcalloc((size_t)nrows + 1, sizeof *n.first),
                         .life = xcalloc((size_t)nthreads + 1, sizeof *n.life)};
    uint32_t **first = xcalloc(ntraces + 1, sizeof *first), nlinks = 0;
    struct varint_writer p;

    for (size_t i = 0; i < ntraces; i++) {
        if (!traces[i].split)
            continue;
        first[i] = first_rows(&traces[i]);
        number_trace(&traces[i], first[i], zero_ns, &n);
        for (size_t k = 1; k < traces[i].split->n; k++)
            nlinks += traces[i].link[k] != 0;
    }
    strbuf_addf(sb, "# lanes: links n=%" PRIu32 " whole=%" PRIu64, nlinks, n.whole_from);
    add_rows(sb, "woke", n.woke, nrows);
    add_rows(sb, "same", n.same, nrows);
    add_rows(sb, "first", n.first, nrows);
    add_lives(sb, &n, nthreads);
    strbuf_addstr(sb, " data=");
    varint_begin(&p, sb);
    for (size_t i = 0; i < ntraces; i++)
        if (traces[i].split)
            add_links(&p, &traces[i], first[i]);
    varint_end(&p);
    strbuf_addch(sb, '\n');
    for (size_t i = 0; i < ntraces; i++)
        free(first[i]);
    free(first);
    free(n.woke);
    free(n.same);
    free(n.first);
    free(n.life);
}
