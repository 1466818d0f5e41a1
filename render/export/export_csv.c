/*
 * The table of symbols as comma-separated values (RFC 4180, but lines end in newline only, as
 * all programs read that), with a column of own and one of total counts for each view or each
 * side of a comparison. Where the input has modules, they are a column, and a function of one
 * name in two modules is two rows.
 *
 * Spreadsheets take a cell that begins with '=', '+', '-' or '@' for a formula, and names may
 * come from anywhere: such a cell gets an apostrophe before it.
 */
#include <stdlib.h>

#include "common/alloc.h"
#include "render/backend.h"
#include "render/framename.h"
#include "render/text/outstream.h"
#include "render/export/series.h"
#include "render/top/toplist.h"

struct sums {
    const struct series_set *set;
    struct folded_count *self, *total; /* set->n for each name */
};

static void add_cell(struct strbuf *sb, const char *s, size_t len)
{
    struct strbuf clean = STRBUF_INIT;

    framename_add_clean(&clean, s, len);
    strbuf_addch(sb, '"');
    if (clean.len && strchr("=+-@", clean.buf[0]))
        strbuf_addch(sb, '\'');
    for (size_t i = 0; i < clean.len; i++) {
        if (clean.buf[i] == '"')
            strbuf_addch(sb, '"');
        strbuf_addch(sb, clean.buf[i]);
    }
    strbuf_addch(sb, '"');
    strbuf_release(&clean);
}

static void take(void *opaque, uint32_t node, bool outermost)
{
    struct sums *s = opaque;
    size_t at = (size_t)s->set->t->nodes[node].name * s->set->n;

    for (uint32_t i = 0; i < s->set->n; i++) {
        folded_count_add(&s->self[at + i], series_self(s->set, i, node));
        if (outermost)
            folded_count_add(&s->total[at + i], series_total(s->set, i, node));
    }
}

static void add_row(struct strbuf *sb, const struct sums *s, uint32_t name)
{
    const struct frametree_name *n = &s->set->t->names[name];
    struct framename f = framename_split(n->s, n->len);
    struct strbuf function = STRBUF_INIT;
    size_t at = (size_t)name * s->set->n;

    framename_add_function(&function, &f);
    add_cell(sb, function.buf, function.len);
    strbuf_release(&function);
    strbuf_addch(sb, ',');
    if (f.file) {
        add_cell(sb, f.file, f.file_len);
        strbuf_addf(sb, ",%u", f.line);
    } else {
        strbuf_addch(sb, ',');
    }
    if (s->set->t->module_of) {
        const struct frametree_name *module = frametree_module(s->set->t, name);

        strbuf_addch(sb, ',');
        if (module)
            add_cell(sb, module->s, module->len);
    }
    for (uint32_t i = 0; i < s->set->n; i++) {
        strbuf_addch(sb, ',');
        folded_add_count(sb, s->self[at + i]);
        strbuf_addch(sb, ',');
        folded_add_count(sb, s->total[at + i]);
    }
    strbuf_addch(sb, '\n');
}

static int csv_write(FILE *file, const struct frametree *t, const struct render_options *o)
{
    struct outstream out = OUTSTREAM_INIT(file);
    struct series_set set;
    struct top_row *rows;
    struct sums s = {.set = &set};
    size_t n;

    series_init(&set, t, o, SERIES_TOTALS | SERIES_BOTH_SIDES);
    s.self = xcalloc((size_t)t->nnames * set.n, sizeof *s.self);
    s.total = xcalloc((size_t)t->nnames * set.n, sizeof *s.total);
    toplist_walk(t, take, &s);
    strbuf_addstr(&out.sb, t->module_of ? "symbol,file,line,module" : "symbol,file,line");
    for (uint32_t i = 0; i < set.n; i++)
        strbuf_addf(&out.sb, ",%s_self,%s_total", set.s[i].name, set.s[i].name);
    strbuf_addch(&out.sb, '\n');
    rows = toplist_make(t, NULL, TOP_BY_SELF, &n);
    for (size_t i = 0; i < n; i++) {
        add_row(&out.sb, &s, rows[i].name);
        outstream_some(&out);
    }
    free(rows);
    free(s.self);
    free(s.total);
    series_release(&set);
    return outstream_end(&out);
}

const struct render_backend export_csv = {
    .name = "csv",
    .what = "the table of symbols as comma-separated values",
    .all_views = true,
    .modules = true,
    .write = csv_write,
};
