/*
 * speedscope's own format: https://www.speedscope.app/file-format-schema.json
 *
 * One profile of kind "sampled" for each series, all sharing the list of frames: a
 * sample is the list of its frames from the root, its weight the count. The kind
 * "evented" would be shorter for deep stacks, but few other programs read it.
 */
#include <stdlib.h>

#include "common/alloc.h"
#include "common/commands.h"
#include "render/backend.h"
#include "render/export/exporttext.h"
#include "render/framename.h"
#include "render/text/json.h"
#include "render/text/outstream.h"
#include "render/export/series.h"
#include "render/text/value.h"

static const char *unit_name(const char *unit)
{
    static const char *const times[] = {"nanoseconds", "microseconds", "milliseconds", "seconds"};
    int i = value_time_unit(unit);

    return i >= 0 ? times[i] : strcmp(unit, "bytes") == 0 ? "bytes" : "none";
}

static void add_frames(struct outstream *out, const struct frametree *t)
{
    struct strbuf function = STRBUF_INIT;

    strbuf_addstr(&out->sb, "\"shared\":{\"frames\":[");
    for (uint32_t i = 1; i < t->nnames; i++) {
        struct framename f = framename_split(t->names[i].s, t->names[i].len);

        strbuf_addstr(&out->sb, i > 1 ? ",\n{\"name\":" : "\n{\"name\":");
        if (!f.file) {
            json_add_string(&out->sb, t->names[i].s, t->names[i].len, 0);
        } else {
            strbuf_clear(&function);
            framename_add_function(&function, &f);
            json_add_string(&out->sb, function.buf, function.len, 0);
            strbuf_addstr(&out->sb, ",\"file\":");
            json_add_string(&out->sb, f.file, f.file_len, 0);
            strbuf_addf(&out->sb, ",\"line\":%u", f.line);
        }
        strbuf_addch(&out->sb, '}');
        outstream_some(out);
    }
    strbuf_addstr(&out->sb, "]}");
    strbuf_release(&function);
}

/* The names on the way to a node, from the root: path[1..depth]. */
struct path {
    uint32_t *name;
    size_t cap;
};

static void keep_path(struct path *p, uint32_t depth, uint32_t name)
{
    GROW(p->name, depth, p->cap);
    p->name[depth] = name;
}

static void add_samples(struct outstream *out, const struct series_set *set, uint32_t series)
{
    const struct frametree *t = set->t;
    struct path path = {NULL, 0};
    const char *comma = "";
    uint32_t depth = 0;

    for (uint32_t i = 0; i != FRAMETREE_NONE; i = frametree_next(t, i, true, &depth)) {
        keep_path(&path, depth, t->nodes[i].name);
        if (series_is_zero(series_self(set, series, i)))
            continue;
        strbuf_addf(&out->sb, "%s[", comma);
        for (uint32_t k = 1; k <= depth; k++) {
            if (k > 1)
                strbuf_addch(&out->sb, ',');
            folded_add_count(&out->sb, (struct folded_count){path.name[k] - 1, 0});
        }
        strbuf_addch(&out->sb, ']');
        comma = ",\n";
        outstream_some(out);
    }
    free(path.name);
}

static void add_weights(struct outstream *out, const struct series_set *set, uint32_t series)
{
    const char *comma = "";
    uint32_t depth = 0;

    for (uint32_t i = 0; i != FRAMETREE_NONE; i = frametree_next(set->t, i, true, &depth)) {
        struct folded_count c = series_self(set, series, i);

        if (series_is_zero(c))
            continue;
        strbuf_addstr(&out->sb, comma);
        folded_add_count(&out->sb, c);
        comma = ",";
        outstream_some(out);
    }
}

/* The sum of the weights, as --total may make the root larger than that. */
static struct folded_count sum_of(const struct series_set *set, uint32_t series)
{
    struct folded_count sum = {0, 0};

    for (uint32_t i = 0; i < set->t->n; i++)
        folded_count_add(&sum, series_self(set, series, i));
    return sum;
}

static void add_profile(struct outstream *out, const struct series_set *set, uint32_t i)
{
    const struct series *s = &set->s[i];

    strbuf_addstr(&out->sb, "{\"type\":\"sampled\",\"name\":");
    exporttext_json_series(&out->sb, set, i);
    strbuf_addf(&out->sb, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":", unit_name(s->unit));
    folded_add_count(&out->sb, sum_of(set, i));
    strbuf_addstr(&out->sb, ",\n\"samples\":[");
    add_samples(out, set, i);
    strbuf_addstr(&out->sb, "],\n\"weights\":[");
    add_weights(out, set, i);
    strbuf_addstr(&out->sb, "]}");
}

static int speedscope_write(FILE *file, const struct frametree *t, const struct render_options *o)
{
    struct outstream out = OUTSTREAM_INIT(file);
    struct series_set set;

    series_init(&set, t, o, SERIES_BOTH_SIDES);
    strbuf_addstr(&out.sb, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
                           "\"exporter\":\"flame@" FLAME_VERSION "\",\n\"name\":");
    exporttext_json_heading(&out.sb, o);
    strbuf_addstr(&out.sb, ",\n\"activeProfileIndex\":0,\n");
    add_frames(&out, t);
    strbuf_addstr(&out.sb, ",\n\"profiles\":[");
    for (uint32_t i = 0; i < set.n; i++) {
        strbuf_addstr(&out.sb, i ? ",\n" : "\n");
        add_profile(&out, &set, i);
    }
    strbuf_addstr(&out.sb, "]}\n");
    series_release(&set);
    return outstream_end(&out);
}

const struct render_backend export_speedscope = {
    .name = "speedscope",
    .endings = "speedscope.json",
    .what = "speedscope's JSON",
    .all_views = true,
    .write = speedscope_write,
};
