/*
 * Folded text again: one line for each node with a count of its own.
 *
 * Problem: the lines must be sorted as LC_ALL=C sort has them, so that files can be
 * merged with `sort -m`, but not all held to be sorted. The tree's order is nearly
 * that. It is not where one name begins another: "f 1" sorts before "f(int) 2", and
 * that before "f;g 3".
 *
 * Algorithm: below each frame there are two kinds of things to write, a child's own
 * line and all lines below a child. The one begins with "name count", the other with
 * "name;", and these keys are never the same nor one the beginning of the other but
 * where that is the end of a line. So the children's things are sorted by those keys,
 * which only moves them among names that begin alike, and written in that order.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "common/alloc.h"
#include "render/backend.h"
#include "render/text/outstream.h"
#include "render/export/series.h"

struct thing {
    uint32_t node;
    bool below; /* the lines below the node, not its own */
};

struct level {
    size_t first, at, end; /* things of this level */
    size_t path;           /* length of the path above */
};

struct writer {
    struct outstream out;
    struct series_set set;
    const struct frametree *t;
    bool keep_order;
    struct strbuf path, a, b;
    struct thing *things;
    size_t nthings, things_cap;
    struct level *levels;
    size_t nlevels, levels_cap;
};

static void add_counts(const struct writer *w, struct strbuf *sb, uint32_t node)
{
    if (w->set.compares) {
        strbuf_addch(sb, ' ');
        folded_add_count(sb, series_self(&w->set, 1, node));
    }
    strbuf_addch(sb, ' ');
    folded_add_count(sb, series_self(&w->set, 0, node));
}

static void make_key(const struct writer *w, struct strbuf *sb, const struct thing *x)
{
    const struct frametree_name *name = frametree_name(w->t, x->node);

    strbuf_clear(sb);
    strbuf_add(sb, name->s, name->len);
    if (x->below)
        strbuf_addch(sb, ';');
    else
        add_counts(w, sb, x->node);
}

static int by_line(const void *pa, const void *pb, void *arg)
{
    const struct thing *x = pa, *y = pb;
    struct writer *w = arg;
    const struct frametree_name *m = frametree_name(w->t, x->node),
                                *n = frametree_name(w->t, y->node);
    size_t common = m->len < n->len ? m->len : n->len;
    int c = memcmp(m->s, n->s, common);

    if (c)
        return c;
    make_key(w, &w->a, x);
    make_key(w, &w->b, y);
    common = w->a.len < w->b.len ? w->a.len : w->b.len;
    c = memcmp(w->a.buf, w->b.buf, common);
    return c ? c : (w->a.len > w->b.len) - (w->a.len < w->b.len);
}

static void put(struct writer *w, uint32_t node, bool below)
{
    GROW(w->things, w->nthings, w->things_cap);
    w->things[w->nthings++] = (struct thing){node, below};
}

/* Whether one sibling's name begins the next one's, so that the tree's order will not do. */
static bool some_begin_alike(const struct frametree *t, uint32_t node)
{
    for (uint32_t c = t->nodes[node].first; t->nodes[c].next != FRAMETREE_NONE;
         c = t->nodes[c].next) {
        const struct frametree_name *a = frametree_name(t, c),
                                    *b = frametree_name(t, t->nodes[c].next);

        if (b->len >= a->len && memcmp(a->s, b->s, a->len) == 0)
            return true;
    }
    return false;
}

/* A zero is left out, as a line of nothing; but not of a comparison if one side has something. */
static bool has_line(const struct writer *w, uint32_t node)
{
    return series_any_self(&w->set, node);
}

static void open_level(struct writer *w, uint32_t node)
{
    struct level l = {.first = w->nthings, .path = w->path.len};

    for (uint32_t c = w->t->nodes[node].first; c != FRAMETREE_NONE; c = w->t->nodes[c].next) {
        if (has_line(w, c))
            put(w, c, false);
        if (w->t->nodes[c].first != FRAMETREE_NONE)
            put(w, c, true);
    }
    l.at = l.first;
    l.end = w->nthings;
    if (l.end > l.first + 1 && !w->keep_order && some_begin_alike(w->t, node))
        qsort_r(w->things + l.first, l.end - l.first, sizeof *w->things, by_line, w);
    GROW(w->levels, w->nlevels, w->levels_cap);
    w->levels[w->nlevels++] = l;
}

static void add_word(struct strbuf *sb, const char *s)
{
    for (; *s; s++)
        strbuf_addch(sb, (unsigned char)*s > ' ' && *s != 0x7f ? *s : '_');
}

static void write_heading(struct writer *w, const struct render_options *o)
{
    struct strbuf *sb = &w->out.sb;

    if (!*o->columns[0].name && !o->sample && strcmp(o->columns[0].unit, "samples") == 0)
        return; /* what a reader takes it for anyway */
    strbuf_addstr(sb, "# flame:");
    if (*o->columns[0].name) {
        strbuf_addstr(sb, " view=");
        add_word(sb, o->columns[0].name);
    }
    strbuf_addstr(sb, " unit=");
    add_word(sb, o->columns[0].unit);
    if (o->sample)
        strbuf_addf(sb, " sample=%llu estimates=yes", (unsigned long long)o->sample);
    strbuf_addch(sb, '\n');
}

/* Merged from the leaf, a frame that ends like a count may have come to the end of a line. */
static void add_last(struct strbuf *sb, const struct frametree_name *name)
{
    struct folded_line line;

    strbuf_add(sb, name->s, name->len);
    if (folded_parse_line(name->s, name->len, &line) == 1)
        sb->buf[sb->len - name->len + line.len] = '_';
}

static void write_lines(struct writer *w)
{
    if (has_line(w, 0)) { /* counts of no frame */
        strbuf_addch(&w->out.sb, ';');
        add_counts(w, &w->out.sb, 0);
        strbuf_addch(&w->out.sb, '\n');
    }
    open_level(w, 0);
    while (w->nlevels > 0) {
        struct level *l = &w->levels[w->nlevels - 1];
        const struct frametree_name *name;
        const struct thing *x;

        strbuf_setlen(&w->path, l->path);
        if (l->at == l->end) {
            w->nthings = l->first;
            w->nlevels--;
            continue;
        }
        x = &w->things[l->at++];
        name = frametree_name(w->t, x->node);
        if (x->below) {
            strbuf_add(&w->path, name->s, name->len);
            strbuf_addch(&w->path, ';');
            open_level(w, x->node);
            continue;
        }
        strbuf_add(&w->out.sb, w->path.buf, w->path.len);
        add_last(&w->out.sb, name);
        add_counts(w, &w->out.sb, x->node);
        strbuf_addch(&w->out.sb, '\n');
        outstream_some(&w->out);
    }
}

static int folded_write(FILE *out, const struct frametree *t, const struct render_options *o)
{
    struct writer w = {
        .out = OUTSTREAM_INIT(out),
        .t = t,
        .keep_order = o->ordered,
        .path = STRBUF_INIT,
        .a = STRBUF_INIT,
        .b = STRBUF_INIT,
    };

    series_init(&w.set, t, o, SERIES_BOTH_SIDES);
    write_heading(&w, o);
    write_lines(&w);
    series_release(&w.set);
    strbuf_release(&w.path);
    strbuf_release(&w.a);
    strbuf_release(&w.b);
    free(w.things);
    free(w.levels);
    return outstream_end(&w.out);
}

const struct render_backend export_folded = {
    .name = "folded",
    .what = "folded stacks: text, one stack a line",
    .write = folded_write,
};
