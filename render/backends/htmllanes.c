#include "render/backends/htmllanes.h"

#include <inttypes.h>
#include <string.h>

#include "common/trace/varint_base64.h"
#include "render/text/json.h"

#define NAME_CHARS 1000

static void add_span(struct outstream *out, const struct lanes *l, struct lanes_span span)
{
    strbuf_addch(&out->sb, '"');
    strbuf_add(&out->sb, l->text.buf + span.at, span.len); /* base64: nothing to escape */
    strbuf_addch(&out->sb, '"');
    outstream_some(out);
}

static void add_threads(struct outstream *out, const struct lanes *l)
{
    strbuf_addstr(&out->sb, "\"threads\":[");
    for (size_t i = 0; i < l->nthreads; i++) {
        const struct lanes_thread *t = &l->threads[i];

        strbuf_addf(&out->sb,
                    "%s\n{\"pid\":%" PRIu64 ",\"tid\":%" PRIu64 ",\"uses\":%" PRIu64
                    ",\"wall\":%" PRIu64 ",\"cpu\":%" PRIu64 ",\"runq\":%" PRIu64 ",\"name\":",
                    i ? "," : "", t->pid, t->tid, t->uses, t->wall_ns, t->cpu_ns, t->runq_ns);
        json_add_string(&out->sb, t->name.len ? t->name.buf : "", t->name.len, NAME_CHARS);
        strbuf_addstr(&out->sb, ",\"title\":");
        json_add_string(&out->sb, t->title.len ? t->title.buf : "", t->title.len, NAME_CHARS);
        strbuf_addch(&out->sb, '}');
        outstream_some(out);
    }
    strbuf_addstr(&out->sb, "],\n");
}

static void add_links(struct outstream *out, const struct lanes *l)
{
    strbuf_addf(&out->sb,
                ",\n\"links\":{\"n\":%" PRIu64 ",\"whole\":%" PRIu64 ",\"woke\":", l->nlinks,
                l->whole_ns);
    add_span(out, l, l->woke);
    strbuf_addstr(&out->sb, ",\"same\":");
    add_span(out, l, l->same);
    strbuf_addstr(&out->sb, ",\"first\":");
    add_span(out, l, l->first);
    strbuf_addstr(&out->sb, ",\"lives\":");
    add_span(out, l, l->lives);
    strbuf_addstr(&out->sb, ",\"data\":");
    add_span(out, l, l->links);
    strbuf_addch(&out->sb, '}');
}

void htmllanes_add(struct outstream *out, const struct lanes *l)
{
    if (!lanes_any(l))
        return;
    strbuf_addf(&out->sb,
                "\"lanes\":{\"rows\":%" PRIu64 ",\"short\":%" PRIu64 ",\"window\":%" PRIu64
                ",\"lost\":%" PRIu64 ",\"others\":%" PRIu64 ",\n",
                l->nrows, l->short_ns, l->window_ns, l->lost_ns, l->others);
    add_threads(out, l);
    strbuf_addstr(&out->sb, "\"thread\":");
    add_span(out, l, l->thread);
    strbuf_addstr(&out->sb, ",\"kind\":");
    add_span(out, l, l->kind);
    strbuf_addstr(&out->sb, ",\"waker\":");
    add_span(out, l, l->waker);
    if (l->nlinks)
        add_links(out, l);
    strbuf_addstr(&out->sb, ",\n\"path\":[");
    for (size_t i = 0; i < l->npaths; i++) {
        strbuf_addf(&out->sb, "%s[%" PRIu64 ",", i ? "," : "", l->paths[i].short_ns);
        add_span(out, l, l->paths[i].data);
        strbuf_addch(&out->sb, ']');
    }
    strbuf_addstr(&out->sb, "],\n\"regions\":[");
    for (size_t i = 0; i < l->nregions; i++) {
        const struct strbuf *name = &l->regions[i].name;

        strbuf_addstr(&out->sb, i ? ",[" : "[");
        json_add_string(&out->sb, name->len ? name->buf : "", name->len, NAME_CHARS);
        strbuf_addch(&out->sb, ',');
        add_span(out, l, l->regions[i].data);
        strbuf_addch(&out->sb, ']');
    }
    strbuf_addstr(&out->sb, "],\n\"waits\":[");
    for (size_t i = 0; i < l->nwaits; i++) {
        strbuf_addf(&out->sb, "%s\n[%" PRIu64 ",", i ? "," : "", l->waits[i].thread);
        add_span(out, l, l->waits[i].data);
        strbuf_addch(&out->sb, ']');
    }
    strbuf_addstr(&out->sb, "]},\n");
}

/* The first stack of that view and node, or behind all. */
static size_t find_stack(const struct lanes *l, const char *view, uint32_t node)
{
    size_t lo = 0, hi = l->nstacks;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int order = strcmp(l->stacks[mid].view, view);

        if (order < 0 || (order == 0 && l->stacks[mid].node < node))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static bool is_at(const struct lanes *l, size_t i, const char *view, uint32_t node)
{
    return i < l->nstacks && l->stacks[i].node == node && strcmp(l->stacks[i].view, view) == 0;
}

void htmllanes_add_column(struct outstream *out, const struct frametree *t, const struct lanes *l,
                          const char *view)
{
    uint32_t depth = 0, gap = 0;
    size_t first = lanes_any(l) ? find_stack(l, view, 0) : 0;
    struct varint_writer p;

    if (!lanes_any(l) || first == l->nstacks || strcmp(l->stacks[first].view, view) != 0)
        return;
    strbuf_addstr(&out->sb, ",\n\"lanes\":\"");
    varint_begin(&p, &out->sb);
    for (uint32_t i = 0; i != FRAMETREE_NONE; i = frametree_next(t, i, true, &depth), gap++)
        for (size_t at = find_stack(l, view, i); is_at(l, at, view, i); at++) {
            const struct lanes_stack *s = &l->stacks[at];
            int64_t before = 0;

            varint_add(&p, gap);
            varint_add(&p, s->n);
            for (size_t k = s->first; k < s->first + s->n; k++) {
                varint_add_signed(&p, (int64_t)l->rows[k] - before);
                before = l->rows[k];
            }
            gap = 0;
            outstream_some(out);
        }
    varint_end(&p);
    strbuf_addch(&out->sb, '"');
}
