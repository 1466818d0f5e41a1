/*
 * Grafana's flame graph: a data frame with the tree as a nested set, that is its nodes
 * in pre-order as columns level, value (with all below), self and label.
 *
 * The file is a list of one data frame as Grafana's sources of data exchange them
 * (schema and data), which its TestData source takes as "Raw Frames" and an infinity or
 * JSON source hands on. For a comparison value and self are the first counts, valueRight
 * and selfRight the second; the panel adds them up for the width.
 *
 * Columns come one after the other, so the tree is walked once for each.
 */
#include "render/backend.h"
#include "render/export/exporttext.h"
#include "render/text/json.h"
#include "render/text/outstream.h"
#include "render/export/series.h"
#include "render/text/value.h"

enum column { LEVEL, VALUE, SELF, LABEL };

/* Grafana's names of units. */
static const char *unit_name(const char *unit)
{
    static const char *const times[] = {"ns", "\xc2\xb5s", "ms", "s"};
    int i = value_time_unit(unit);

    return i >= 0 ? times[i] : strcmp(unit, "bytes") == 0 ? "bytes" : "short";
}

static void add_field(struct strbuf *sb, const char *name, const char *type, const char *unit)
{
    strbuf_addf(sb, "{\"name\":\"%s\",\"type\":\"%s\",\"config\":{", name, type);
    if (unit)
        strbuf_addf(sb, "\"unit\":\"%s\"", unit);
    strbuf_addstr(sb, "}}");
}

static void add_schema(struct strbuf *sb, const struct series_set *set,
                       const struct render_options *o)
{
    const char *unit = unit_name(set->s[0].unit);

    strbuf_addstr(sb, "[{\"schema\":{\"name\":");
    exporttext_json_heading(sb, o);
    strbuf_addstr(sb, ",\"meta\":{\"preferredVisualisationType\":\"flamegraph\"},\"fields\":[\n");
    add_field(sb, "level", "number", NULL);
    for (uint32_t i = 0; i < set->n; i++) {
        strbuf_addstr(sb, ",\n");
        add_field(sb, i ? "valueRight" : "value", "number", unit);
        strbuf_addstr(sb, ",\n");
        add_field(sb, i ? "selfRight" : "self", "number", unit);
    }
    strbuf_addstr(sb, ",\n");
    add_field(sb, "label", "string", NULL);
    strbuf_addstr(sb, "]},\n\"data\":{\"values\":[");
}

static void add_column(struct outstream *out, const struct series_set *set, enum column column,
                       uint32_t series)
{
    uint32_t depth = 0;

    strbuf_addstr(&out->sb, column == LEVEL ? "\n[" : ",\n[");
    for (uint32_t i = 0; i != FRAMETREE_NONE; i = frametree_next(set->t, i, true, &depth)) {
        const struct frametree_name *name = frametree_name(set->t, i);

        if (i)
            strbuf_addch(&out->sb, ',');
        if (column == LABEL)
            json_add_string(&out->sb, name->s, name->len, 0);
        else
            folded_add_count(&out->sb, column == LEVEL   ? (struct folded_count){depth, 0}
                                       : column == VALUE ? series_total(set, series, i)
                                                         : series_self(set, series, i));
        outstream_some(out);
    }
    strbuf_addch(&out->sb, ']');
}

static int grafana_write(FILE *file, const struct frametree *t, const struct render_options *o)
{
    struct outstream out = OUTSTREAM_INIT(file);
    struct series_set set;

    series_init(&set, t, o, SERIES_TOTALS | SERIES_BOTH_SIDES);
    add_schema(&out.sb, &set, o);
    add_column(&out, &set, LEVEL, 0);
    for (uint32_t i = 0; i < set.n; i++) {
        /* The left side is what was before. */
        uint32_t series = set.compares ? 1 - i : i;

        add_column(&out, &set, VALUE, series);
        add_column(&out, &set, SELF, series);
    }
    add_column(&out, &set, LABEL, 0);
    strbuf_addstr(&out.sb, "]}}]\n");
    series_release(&set);
    return outstream_end(&out);
}

const struct render_backend export_grafana = {
    .name = "grafana",
    .endings = "grafana.json",
    .what = "Grafana's nested set: a data frame in JSON",
    .write = grafana_write,
};
