/*
 * The explorer page: one HTML file that holds the profile, and the script and style to explore
 * it. It opens from disk and loads nothing, and declares that to the browser
 * (Content-Security-Policy). Scripts and styles run only if they have the digest of the page's
 * own, so that a name that escaped from its place would be dead text.
 *
 * The profile is one JSON object in a <script> of a type that browsers do not run. Names are
 * strings there, numbered; the most frequent have the smallest numbers. The tree is two numbers
 * a node in pre-order (how many levels up from the node before it its parent lies; its name),
 * and each column of counts is a list of (distance to the next node that has any, count of its
 * own), as most frames only call others. Names are in places (html_places.h). All are packed
 * (see varint_base64.h): a profile of 300,000 frames takes a few bytes a frame, and the script
 * computes the totals.
 *
 * Rejected: arrays of JSON numbers, three times as long and slower to read; and compressed data,
 * which scripts can only unpack asynchronously and not in every browser in use.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/trace/varint_base64.h"
#include "render/backends/assets.h"
#include "render/backends/html_places.h"
#include "render/backends/pagecode.h"
#include "render/backend.h"
#include "render/backends/htmllanes.h"
#include "render/findings/findings.h"
#include "render/text/json.h"
#include "render/text/outstream.h"
#include "render/text/xml.h"

#define NAME_CHARS 4000 /* most characters of a name; no reader needs more */

struct page {
    struct outstream out;
    const struct frametree *t;
    const struct render_options *o;
    uint32_t *order;  /* names by falling use */
    uint32_t *number; /* index of a name in `order` */
    uint32_t *walk;   /* nodes in pre-order, where more than one column uses them */
    uint32_t nwalk;
    struct strbuf first; /* the first column's own counts, packed */
    struct findings findings;
};

static int by_use(const void *pa, const void *pb, void *arg)
{
    uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
    const uint32_t *uses = arg;

    if (uses[a] != uses[b])
        return uses[a] > uses[b] ? -1 : 1;
    return (a > b) - (a < b);
}

/* Numbers names by their use, the most frequent first. The root's name comes first whatever its
 * use. */
static void number_names(struct page *p)
{
    const struct frametree *t = p->t;
    uint32_t *uses = xcalloc(t->nnames, sizeof *uses);

    p->order = xreallocarray(NULL, t->nnames, sizeof *p->order);
    p->number = xreallocarray(NULL, t->nnames, sizeof *p->number);
    for (uint32_t i = 0; i < t->n; i++)
        uses[t->nodes[i].name]++;
    uses[0] = UINT32_MAX;
    for (uint32_t i = 0; i < t->nnames; i++)
        p->order[i] = i;
    qsort_r(p->order, t->nnames, sizeof *p->order, by_use, uses);
    for (uint32_t i = 0; i < t->nnames; i++)
        p->number[p->order[i]] = i;
    free(uses);
}

static void add_member(struct page *p, const char *key, const char *value)
{
    strbuf_addf(&p->out.sb, "\"%s\":", key);
    json_add_string(&p->out.sb, value, strlen(value), NAME_CHARS);
    strbuf_addstr(&p->out.sb, ",\n");
}

static void add_names(struct page *p)
{
    strbuf_addstr(&p->out.sb, "\"names\":[");
    for (uint32_t i = 0; i < p->t->nnames; i++) {
        const struct frametree_name *n = &p->t->names[p->order[i]];

        strbuf_addstr(&p->out.sb, i ? ",\n" : "\n");
        json_add_string(&p->out.sb, n->s, n->len, NAME_CHARS);
        outstream_some(&p->out);
    }
    strbuf_addstr(&p->out.sb, "],\n");
}

static enum wrappers_scope scope_of(const struct page *p, const struct render_column *c)
{
    return wrappers_scope(p->o->wrappers, *c->name ? c->name : NULL, c->unit);
}

/* Adds the numbers of names that are wrappers for any column; `key` names the kind of wrappers. */
static void add_wrappers(struct page *p, enum wrappers_scope kind, const char *key)
{
    enum wrappers_scope widest = WRAPPERS_NONE;
    size_t n = 0;

    for (size_t i = 0; i < p->o->ncolumns; i++)
        if (scope_of(p, &p->o->columns[i]) > widest)
            widest = scope_of(p, &p->o->columns[i]);
    strbuf_addf(&p->out.sb, "\"%s\":[", key);
    for (uint32_t i = 1; widest >= kind && i < p->t->nnames; i++) {
        const struct frametree_name *name = &p->t->names[p->order[i]];

        if (wrappers_has(p->o->wrappers, kind, name->s, name->len))
            strbuf_addf(&p->out.sb, "%s%u", n++ ? "," : "", i);
    }
    strbuf_addstr(&p->out.sb, "],\n");
}

/* Own counts by node without those of 0: distance in nodes, the whole part, and millionths. */
struct counts {
    struct varint_writer out;
    uint32_t gap; /* nodes since the last one */
    bool fractions;
};

/* A node's own count in a column: the whole part, and millionths. Counts are never below zero. */
static inline uint64_t own_count(const struct frametree *t, uint32_t column, uint32_t node,
                                 uint32_t *micros)
{
    double v, part;
    uint64_t whole;

    *micros = 0;
    if (column == 0) {
        if (t->self_part)
            *micros = (uint32_t)(t->self_part[node] * 1e6 + 0.5);
        return t->nodes[node].self;
    }
    v = t->columns[column - 1][node];
    if (v >= 18446744073709551615.0)
        return UINT64_MAX;
    whole = (uint64_t)v;
    part = v - (double)whole; /* as v - floor(v), which is a call to the library */
    if (part > 0)
        *micros = (uint32_t)(part * 1e6 + 0.5);
    return whole;
}

static inline void add_count(struct counts *c, const struct frametree *t, uint32_t column,
                             uint32_t node)
{
    uint32_t micros;
    uint64_t whole = own_count(t, column, node, &micros);

    if (whole || micros) {
        varint_add(&c->out, c->gap);
        varint_add(&c->out, whole);
        if (c->fractions)
            varint_add(&c->out, micros);
        c->gap = 0;
    }
    c->gap++;
}

/*
 * Adds the tree and packs the first column. A node has to be fetched from memory, so the first
 * column is made on the same walk. For the others the order of nodes is kept in p->walk, which
 * the processor prefetches.
 */
static void add_frames(struct page *p)
{
    const struct frametree *t = p->t;
    const struct timeline *tl = p->o->timeline;
    bool kept = p->o->ncolumns > 1 || t->delta || (tl && tl->n);
    uint32_t depth = 0, before = 0;
    struct counts first = {.fractions = t->self_part != NULL};
    struct varint_writer out;

    strbuf_addf(&p->out.sb, "\"nodes\":%u,\n\"frames\":\"", t->n);
    varint_begin(&out, &p->out.sb);
    varint_begin(&first.out, &p->first);
    p->walk = kept ? xreallocarray(NULL, t->n, sizeof *p->walk) : NULL;
    for (uint32_t i = 0; i != FRAMETREE_NONE; i = frametree_next(t, i, true, &depth)) {
        if (kept)
            p->walk[p->nwalk++] = i;
        add_count(&first, t, 0, i);
        if (i == 0)
            continue;
        varint_add(&out, before + 1 - depth);
        varint_add(&out, p->number[t->nodes[i].name]);
        before = depth;
        outstream_some(&p->out);
    }
    varint_end(&first.out);
    varint_end(&out);
    strbuf_addstr(&p->out.sb, "\",\n");
}

static bool has_fractions(const struct frametree *t, uint32_t column)
{
    uint32_t micros;

    if (column == 0)
        return t->self_part != NULL;
    for (uint32_t i = 0; i < t->n; i++) {
        own_count(t, column, i, &micros);
        if (micros)
            return true;
    }
    return false;
}

/* The history of a node, or NULL. Histories are sorted by kind and node. */
static const struct timeline_history *history_of(const struct timeline *tl, enum timeline_kind kind,
                                                 uint32_t node)
{
    size_t lo = 0, hi = tl->nhistories;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const struct timeline_history *h = &tl->histories[mid];

        if (h->kind < kind || (h->kind == kind && h->node < node))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < tl->nhistories && tl->histories[lo].kind == kind && tl->histories[lo].node == node
               ? &tl->histories[lo]
               : NULL;
}

static void add_changes(struct varint_writer *out, const struct timeline *tl,
                        const struct timeline_history *h)
{
    size_t before = 0;

    varint_add(out, h->nn);
    for (size_t i = h->first; i < h->first + h->nn; i++) {
        varint_add(out, tl->changes[i].moment - before);
        varint_add_signed(out, tl->changes[i].bytes);
        before = tl->changes[i].moment;
    }
}

/* Adds the histories of a column's view, by node: distance in nodes, number of changes, and for
 * each change the distance in moments, and bytes. */
static void add_history(struct page *p, const struct render_column *c)
{
    const struct timeline *tl = p->o->timeline;
    enum timeline_kind kind = TIMELINE_LIVE;
    uint32_t gap = 0;
    struct varint_writer out;

    while (kind < TIMELINE_KINDS && strcmp(c->name, timeline_view(kind)) != 0)
        kind++;
    if (!tl || !tl->n || c->timed || kind == TIMELINE_KINDS)
        return;
    strbuf_addstr(&p->out.sb, ",\n\"history\":\"");
    varint_begin(&out, &p->out.sb);
    for (uint32_t k = 0; k < p->nwalk; k++, gap++) {
        const struct timeline_history *h = history_of(tl, kind, p->walk[k]);

        if (!h)
            continue;
        varint_add(&out, gap);
        add_changes(&out, tl, h);
        gap = 0;
        outstream_some(&p->out);
    }
    varint_end(&out);
    strbuf_addstr(&p->out.sb, "\"");
}

static void add_column(struct page *p, uint32_t column)
{
    static const char *const scopes[] = {"none", "named", "all"};
    const struct render_column *c = &p->o->columns[column];
    struct counts own = {.fractions = has_fractions(p->t, column)};

    strbuf_addf(&p->out.sb, "%s\n{", column ? "," : "");
    add_member(p, "name", c->name);
    add_member(p, "title", column || *c->title ? c->title : p->o->title);
    add_member(p, "label", c->label);
    add_member(p, "unit", c->unit);
    strbuf_addf(&p->out.sb, "\"wrapped\":\"%s\",\n", scopes[scope_of(p, c)]);
    if (c->timed)
        strbuf_addf(&p->out.sb, "\"time\":%.17g,\n\"level\":%s,\n", c->time,
                    c->level ? "true" : "false");
    strbuf_addf(&p->out.sb, "\"fractions\":%s,\n\"own\":\"", own.fractions ? "true" : "false");
    varint_begin(&own.out, &p->out.sb);
    if (column == 0)
        strbuf_add(&p->out.sb, p->first.buf, p->first.len);
    for (uint32_t k = 0; column && k < p->nwalk; k++) {
        add_count(&own, p->t, column, p->walk[k]);
        outstream_some(&p->out);
    }
    varint_end(&own.out);
    strbuf_addstr(&p->out.sb, "\"");
    add_history(p, c);
    htmllanes_add_column(&p->out, p->t, p->o->lanes, c->timed ? "" : c->name);
    strbuf_addstr(&p->out.sb, "}");
}

/* Adds the second minus the first count, in millionths where there are fractions. */
static void add_delta(struct page *p)
{
    double scale = p->t->self_part ? 1e6 : 1;
    uint32_t gap = 0;
    struct varint_writer out;

    if (!p->t->delta)
        return;
    strbuf_addf(&p->out.sb, "\"deltaScale\":%g,\n\"delta\":\"", scale);
    varint_begin(&out, &p->out.sb);
    for (uint32_t k = 0; k < p->nwalk; k++, gap++) {
        double v = fmax(-9e18, fmin(9e18, p->t->delta[p->walk[k]] * scale));

        if (llrint(v) == 0)
            continue;
        varint_add(&out, gap);
        varint_add_signed(&out, llrint(v));
        gap = 0;
        outstream_some(&p->out);
    }
    varint_end(&out);
    strbuf_addstr(&p->out.sb, "\",\n");
}

/* Adds for each moment the microseconds since the one before, and the changes of the totals. */
static void add_moments(struct page *p)
{
    static const char *const keys[] = {"us", "live", "mapped", "rss"};
    const struct timeline *tl = p->o->timeline;
    struct varint_writer out;

    if (!tl || !tl->n)
        return;
    strbuf_addstr(&p->out.sb, "\"moments\":{");
    for (size_t k = 0; k < ARRAY_LEN(keys); k++) {
        strbuf_addf(&p->out.sb, "\"%s\":\"", keys[k]);
        varint_begin(&out, &p->out.sb);
        for (size_t i = 0; i < tl->n; i++) {
            const struct timeline_moment *m = &tl->moments[i];

            varint_add_signed(&out, k == 0   ? (int64_t)(m->us - (i ? m[-1].us : 0))
                                    : k == 1 ? m->live
                                    : k == 2 ? m->mapped
                                             : m->rss);
        }
        varint_end(&out);
        strbuf_addstr(&p->out.sb, "\",\n");
    }
    strbuf_addstr(&p->out.sb, "\"marks\":[");
    for (size_t i = 0; i < tl->nmarks; i++) {
        strbuf_addf(&p->out.sb, "%s[%" PRIu64 ",", i ? ",\n" : "", tl->marks[i].us);
        json_add_string(&p->out.sb, tl->marks[i].name, tl->marks[i].len, NAME_CHARS);
        strbuf_addstr(&p->out.sb, "]");
        outstream_some(&p->out);
    }
    strbuf_addstr(&p->out.sb, "]},\n");
}

static void add_first_view(struct page *p)
{
    const char *view = findings_first_view(&p->findings, p->t, p->o);

    if (view && p->o->ncolumns > 1)
        add_member(p, "view", view);
}

static void add_profile(struct page *p)
{
    const struct render_options *o = p->o;

    strbuf_addstr(&p->out.sb, "<script id=\"profile\" type=\"application/json\">{\"version\":1,\n");
    add_member(p, "title", o->title);
    add_member(p, "subtitle", o->subtitle);
    add_member(p, "nametype", o->nametype);
    strbuf_addf(&p->out.sb, "\"reverse\":%s,\n", o->reverse ? "true" : "false");
    add_first_view(p);
    if (o->ordered)
        strbuf_addstr(&p->out.sb, "\"ordered\":true,\n");
    if (p->t->delta)
        strbuf_addf(&p->out.sb, "\"widths\":\"%s\",\"change\":\"%s\",\"carry\":%s,\n",
                    difference_widths_name(o->widths), difference_colors_name(o->change),
                    o->carry ? "true" : "false");
    if (o->sample)
        strbuf_addf(&p->out.sb, "\"sample\":%" PRIu64 ",\n", o->sample);
    add_names(p);
    add_wrappers(p, WRAPPERS_NAMED, "named");
    add_wrappers(p, WRAPPERS_ALL, "wrappers");
    html_places_add(&p->out, p->t, o, p->order);
    add_frames(p);
    add_delta(p);
    add_moments(p);
    htmllanes_add(&p->out, p->o->lanes);
    findings_add_json(&p->out.sb, &p->findings, p->t, o, p->number);
    strbuf_addstr(&p->out.sb, "\"columns\":[");
    for (uint32_t i = 0; i < o->ncolumns && i <= p->t->ncolumns; i++)
        add_column(p, i);
    strbuf_addstr(&p->out.sb, "]}</script>\n");
}

/* Makes the text between the tags of the page's script, and of its style. */
static void make_code(struct strbuf *script, struct strbuf *style)
{
    strbuf_addstr(script, "\n\"use strict\";\n(() => {\n");
    pagecode_add(script, asset_page_js, asset_page_js_len());
    strbuf_addstr(script, "})();\n");
    strbuf_addstr(style, "\n");
    pagecode_add(style, asset_page_css, asset_page_css_len());
}

static int html_write(FILE *out, const struct frametree *t, const struct render_options *o)
{
    struct page p = {.out = OUTSTREAM_INIT(out), .t = t, .o = o, .first = STRBUF_INIT};
    struct strbuf script = STRBUF_INIT, style = STRBUF_INIT;

    findings_make(&p.findings, t, o, true);
    make_code(&script, &style);
    number_names(&p);
    strbuf_addstr(&p.out.sb,
                  "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                  "worker-src blob:; script-src ");
    pagecode_add_hash(&p.out.sb, &script);
    strbuf_addstr(&p.out.sb, "; style-src ");
    pagecode_add_hash(&p.out.sb, &style);
    strbuf_addstr(&p.out.sb,
                  "\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<title>");
    xml_add(&p.out.sb, o->title, strlen(o->title), 0);
    strbuf_addstr(&p.out.sb, "</title>\n<style>");
    strbuf_add(&p.out.sb, style.buf, style.len);
    strbuf_addstr(&p.out.sb, "</style>\n</head>\n<body>\n");
    strbuf_add(&p.out.sb, asset_page_html, asset_page_html_len());
    add_profile(&p);
    strbuf_addstr(&p.out.sb, "<script>");
    strbuf_add(&p.out.sb, script.buf, script.len);
    strbuf_addstr(&p.out.sb, "</script>\n</body>\n</html>\n");
    strbuf_release(&script);
    strbuf_release(&style);
    free(p.order);
    free(p.number);
    free(p.walk);
    strbuf_release(&p.first);
    findings_release(&p.findings);
    return outstream_end(&p.out);
}

const struct render_backend render_html = {
    .name = "html",
    .is_browsed = true,
    .what = "page to explore: table, flame graph, callers, search; self-contained",
    .all_views = true,
    .lines = true,
    .modules = true,
    .explores = true,
    .write = html_write,
};
