/*
 * Input of d3-flame-graph: nested objects of a name, a value (with all below it) and children;
 * its differential colours use `delta`.
 *
 * The tree is walked without recursion: a node deeper than the one before opens a list of
 * children, one less deep closes as many objects as it went up.
 */
#include "render/backend.h"
#include "render/export/exporttext.h"
#include "render/text/json.h"
#include "render/text/outstream.h"
#include "render/export/series.h"

static void add_signed(struct strbuf *sb, double v)
{
    double size = v < 0 ? -v : v;
    struct folded_count c = {size < 1.8e19 ? (uint64_t)size : UINT64_MAX, 0};

    c.part = size < 9007199254740992.0 ? size - (double)c.whole : 0;
    if (v < 0)
        strbuf_addch(sb, '-');
    folded_add_count(sb, c);
}

static void add_node(struct strbuf *sb, const struct series_set *set, uint32_t node,
                     const struct render_options *o)
{
    const struct frametree_name *name = frametree_name(set->t, node);
    struct folded_count total = series_total(set, 0, node);

    strbuf_addstr(sb, "{\"name\":");
    if (node == 0)
        exporttext_json_heading(sb, o);
    else
        json_add_string(sb, name->s, name->len, 0);
    strbuf_addstr(sb, ",\"value\":");
    folded_add_count(sb, total);
    if (set->compares) {
        strbuf_addstr(sb, ",\"delta\":");
        add_signed(sb,
                   folded_count_double(total) - folded_count_double(series_total(set, 1, node)));
    }
}

static void close_levels(struct outstream *out, uint32_t n)
{
    for (; n > 0; n--) {
        strbuf_addstr(&out->sb, "]}");
        outstream_some(out);
    }
}

static int d3_write(FILE *file, const struct frametree *t, const struct render_options *o)
{
    struct outstream out = OUTSTREAM_INIT(file);
    uint32_t depth = 0, before = 0;
    struct series_set set;

    series_init(&set, t, o, SERIES_TOTALS | SERIES_BOTH_SIDES);
    add_node(&out.sb, &set, 0, o);
    for (uint32_t i = frametree_next(t, 0, true, &depth); i != FRAMETREE_NONE;
         i = frametree_next(t, i, true, &depth)) {
        if (depth > before) {
            strbuf_addstr(&out.sb, ",\"children\":[\n");
        } else {
            strbuf_addch(&out.sb, '}');
            close_levels(&out, before - depth);
            strbuf_addstr(&out.sb, ",\n");
        }
        add_node(&out.sb, &set, i, o);
        before = depth;
        outstream_some(&out);
    }
    strbuf_addch(&out.sb, '}');
    close_levels(&out, before);
    strbuf_addch(&out.sb, '\n');
    series_release(&set);
    return outstream_end(&out);
}

const struct render_backend export_d3 = {
    .name = "d3",
    .endings = "d3.json",
    .what = "d3-flame-graph's JSON",
    .write = d3_write,
};
