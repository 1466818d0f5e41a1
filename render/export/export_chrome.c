/*
 * Trace events, for chrome://tracing, Perfetto and other readers of the format.
 *
 * An input that says when threads waited becomes just that (chromewaits.h). Any other has no
 * moments, as the format wants them, so every frame becomes one complete event
 * ("X") that lasts as long as its total, its callees one after the other from its beginning.
 * Units of time become microseconds, the format's own; of other units one is a microsecond, and
 * otherData gives the real unit.
 *
 * A frame begins at the end of the sibling before it, or with its caller. Ends are kept by
 * depth, as exact counts.
 */
#include <stdlib.h>

#include "common/alloc.h"
#include "render/backend.h"
#include "render/export/chromewaits.h"
#include "render/export/exporttext.h"
#include "render/text/json.h"
#include "render/text/outstream.h"
#include "render/export/series.h"
#include "render/text/value.h"

static void add_microseconds(struct strbuf *sb, struct folded_count c, int unit)
{
    static const uint64_t thousands[] = {1, 1, 1000, 1000000};

    if (unit == 0) {
        c.part = ((double)(c.whole % 1000) + c.part) / 1e3;
        c.whole /= 1000;
    } else if (unit > 1) {
        double part = c.part * (double)thousands[unit];

        c.part = 0;
        if (__builtin_mul_overflow(c.whole, thousands[unit], &c.whole))
            c.whole = UINT64_MAX;
        folded_count_add(&c, (struct folded_count){(uint64_t)part, part - (double)(uint64_t)part});
    }
    value_add_number(sb, c, false);
}

static void add_other(struct strbuf *sb, const struct series_set *set,
                      const struct render_options *o)
{
    strbuf_addstr(sb, "{\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"title\":");
    exporttext_json_heading(sb, o);
    if (value_time_unit(set->s[0].unit) < 0) {
        struct strbuf text = STRBUF_INIT;

        strbuf_addf(&text, "a microsecond stands for one of: %s", set->s[0].unit);
        strbuf_addstr(sb, ",\"unit\":");
        json_add_string(sb, text.buf, text.len, 0);
        strbuf_release(&text);
    }
    strbuf_addstr(sb, "},\n");
}

/* Whether the input has waits in time order, which are written then. */
static bool write_waits(struct outstream *out, const struct frametree *t,
                        const struct render_options *o)
{
    struct waitlist w;
    bool any;

    if (!waitlist_init(&w, t, o->lanes, o->reverse))
        return false;
    any = waitlist_any(&w);
    if (any) {
        strbuf_addstr(&out->sb, "{\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"title\":");
        exporttext_json_heading(&out->sb, o);
        strbuf_addstr(&out->sb, "},\n");
        chromewaits_write(out, &w);
        strbuf_addstr(&out->sb, "}\n");
        waitlist_report(&w, "chrome");
    }
    waitlist_release(&w);
    return any;
}

static int chrome_write(FILE *file, const struct frametree *t, const struct render_options *o)
{
    struct outstream out = OUTSTREAM_INIT(file);
    struct folded_count *at = NULL; /* by depth: where the next frame there begins */
    size_t cap = 0;
    uint32_t depth = 0;
    struct series_set set;
    int unit;

    if (write_waits(&out, t, o))
        return outstream_end(&out);
    series_init(&set, t, o, SERIES_TOTALS);
    unit = value_time_unit(set.s[0].unit);
    add_other(&out.sb, &set, o);
    strbuf_addstr(&out.sb, "\"traceEvents\":[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,"
                           "\"tid\":1,\"args\":{\"name\":");
    exporttext_json_series(&out.sb, &set, 0);
    strbuf_addstr(&out.sb, "}}");
    for (uint32_t i = 0; i != FRAMETREE_NONE;) {
        const struct frametree_name *name = frametree_name(t, i);
        struct folded_count total = series_total(&set, 0, i);
        bool some = !series_is_zero(total);

        GROW(at, depth + 1, cap);
        if (i == 0)
            at[0] = (struct folded_count){0, 0};
        at[depth + 1] = at[depth];
        if (i && some) {
            strbuf_addstr(&out.sb, ",\n{\"name\":");
            json_add_string(&out.sb, name->s, name->len, 0);
            strbuf_addstr(&out.sb, ",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":");
            add_microseconds(&out.sb, at[depth], unit);
            strbuf_addstr(&out.sb, ",\"dur\":");
            add_microseconds(&out.sb, total, unit);
            strbuf_addch(&out.sb, '}');
            outstream_some(&out);
        }
        folded_count_add(&at[depth], total);
        /* A frame with total 0 has no counts below it. */
        i = frametree_next(t, i, some, &depth);
    }
    strbuf_addstr(&out.sb, "]}\n");
    free(at);
    series_release(&set);
    return outstream_end(&out);
}

const struct render_backend export_chrome = {
    .name = "chrome",
    .endings = "trace.json chrome.json",
    .what = "trace events in JSON, for Chrome and Perfetto",
    .waits = true,
    .write = chrome_write,
};
