/*
 * pprof's profile: gzipped protocol buffers, by protobuf-c from profile.proto.
 *
 * Problem: a message of a million samples must not be held in memory, as objects and once more
 * as bytes. But messages written one behind the other are one message, whose lists are those of
 * all together. So each sample, location, function and string is a small profile of its own,
 * packed straight into the compressor.
 *
 * A location is a frame's position: a function and a line. Functions that were inlined (marked
 * _[i]) are lines of their caller's location, as the format has it, so for them a location is a
 * function, a line, and the location it was inlined into.
 *
 * The format has whole numbers (wholevalues.h).
 */
#include <stdlib.h>

#include <generated/profile.pb-c.h>

#include "common/alloc.h"
#include "render/backend.h"
#include "render/export/exporttext.h"
#include "render/framename.h"
#include "render/export/functable.h"
#include "render/export/gzipout.h"
#include "render/export/locations.h"
#include "render/export/wholevalues.h"

/*
 * Default of absent strings in generated code; the library never compares it with a symbol of
 * its own. Defined here because it is the only symbol of the library that flame would need
 * before it writes a profile (common/lazyload/lazyload.h).
 */
const char protobuf_c_empty_string[] = "";

struct writer {
    ProtobufCBuffer base; /* first, so that append finds the rest */
    struct gzipout gz;
    struct wholevalues whole;
    struct functable ft;
    struct locations loc;
    uint32_t command_module; /* the module with the name of the profiled program; 0: none */
};

static void append(ProtobufCBuffer *base, size_t len, const uint8_t *data)
{
    gzipout_add(&((struct writer *)base)->gz, data, len);
}

static void pack(struct writer *w, const Pprof__Profile *p)
{
    pprof__profile__pack_to_buffer(p, &w->base);
}

static int64_t string(struct writer *w, const char *s)
{
    return functable_string(&w->ft, s, strlen(s));
}

static void pack_type(struct writer *w, const char *type, const char *unit)
{
    Pprof__ValueType v = PPROF__VALUE_TYPE__INIT, *list[] = {&v};
    Pprof__Profile p = PPROF__PROFILE__INIT;

    v.type = string(w, type);
    v.unit = string(w, unit);
    p.n_sample_type = 1;
    p.sample_type = list;
    pack(w, &p);
}

static void pack_types(struct writer *w)
{
    struct strbuf name = STRBUF_INIT;

    for (uint32_t i = 0; i < w->whole.n; i++)
        pack_type(w, wholevalues_name(&w->whole, i, &name), w->whole.unit[i]);
    strbuf_release(&name);
}

static void pack_heading(struct writer *w, const struct render_options *o)
{
    Pprof__ValueType space = PPROF__VALUE_TYPE__INIT;
    Pprof__Profile p = PPROF__PROFILE__INIT;
    struct strbuf text = STRBUF_INIT;
    int64_t comments[2];

    exporttext_heading(&text, o);
    comments[p.n_comment++] = functable_string(&w->ft, text.buf, text.len);
    strbuf_clear(&text);
    if (*o->notes) {
        framename_add_clean(&text, o->notes, strlen(o->notes));
        comments[p.n_comment++] = functable_string(&w->ft, text.buf, text.len);
    }
    p.comment = comments;
    p.default_sample_type = string(w, wholevalues_name(&w->whole, 0, &text));
    if (o->sample) {
        space.type = string(w, "space");
        space.unit = string(w, "bytes");
        p.period_type = &space;
        p.period = o->sample < INT64_MAX ? (int64_t)o->sample : INT64_MAX;
    }
    pack(w, &p);
    strbuf_release(&text);
}

/*
 * Packs the mapping of the profiled program. Tools name the profile by it, and frames without a
 * known module are in it. Its flags say that functions and lines need no further lookup.
 */
static void pack_mapping(struct writer *w, const struct render_options *o)
{
    Pprof__Mapping m = PPROF__MAPPING__INIT, *list[] = {&m};
    Pprof__Profile p = PPROF__PROFILE__INIT;
    const char *name = *o->command ? o->command : o->title;
    struct strbuf text = STRBUF_INIT;

    framename_add_clean(&text, name, strlen(name));
    m.id = 1;
    m.filename = functable_string(&w->ft, text.buf, text.len);
    m.has_functions = m.has_filenames = m.has_line_numbers = m.has_inline_frames = true;
    p.mapping = list;
    p.n_mapping = 1;
    pack(w, &p);
    strbuf_release(&text);
}

/* The mapping of a module; the first one, if the module has the name of the profiled program. */
static uint64_t mapping_of(const struct writer *w, uint32_t module)
{
    return module && module != w->command_module ? module + 1 : 1;
}

/* Packs a mapping for each other module of the tree, behind the first. */
static void pack_modules(struct writer *w, const struct render_options *o)
{
    const struct frametree *t = w->whole.set.t;
    struct strbuf text = STRBUF_INIT;

    for (uint32_t i = 1; i < t->nmodules; i++)
        if (t->modules[i].len == strlen(o->command) &&
            memcmp(t->modules[i].s, o->command, t->modules[i].len) == 0)
            w->command_module = i;

    for (uint32_t i = 1; i < t->nmodules; i++) {
        Pprof__Mapping m = PPROF__MAPPING__INIT, *list[] = {&m};
        Pprof__Profile p = PPROF__PROFILE__INIT;

        if (mapping_of(w, i) == 1)
            continue;
        strbuf_clear(&text);
        framename_add_clean(&text, t->modules[i].s, t->modules[i].len);
        m.id = mapping_of(w, i);
        m.filename = functable_string(&w->ft, text.buf, text.len);
        m.has_functions = m.has_filenames = m.has_line_numbers = m.has_inline_frames = true;
        p.mapping = list;
        p.n_mapping = 1;
        pack(w, &p);
    }
    strbuf_release(&text);
}

static void pack_samples(struct writer *w)
{
    const struct frametree *t = w->whole.set.t;
    uint32_t depth = 0;

    for (uint32_t i = 0; i != FRAMETREE_NONE; i = frametree_next(t, i, true, &depth)) {
        Pprof__Sample s = PPROF__SAMPLE__INIT, *list[] = {&s};
        Pprof__Profile p = PPROF__PROFILE__INIT;

        locations_step(&w->loc, t->nodes[i].name, depth);
        if (!wholevalues_take(&w->whole, i))
            continue;
        s.location_id = locations_stack(&w->loc, depth, &s.n_location_id);
        s.value = w->whole.values;
        s.n_value = w->whole.n;
        p.sample = list;
        p.n_sample = 1;
        pack(w, &p);
    }
}

static void pack_locations(struct writer *w)
{
    Pprof__Line *lines = NULL, **list = NULL;
    size_t lines_room = 0, list_room = 0;

    for (uint32_t id = 1; id <= w->loc.n; id++) {
        Pprof__Location l = PPROF__LOCATION__INIT, *locations[] = {&l};
        Pprof__Profile p = PPROF__PROFILE__INIT;

        for (uint32_t at = id; at; at = locations_outer(&w->loc, at)) {
            const struct functable_place *place = &w->ft.places[locations_name(&w->loc, at)];

            GROW(lines, l.n_line, lines_room);
            GROW(list, l.n_line, list_room);
            pprof__line__init(&lines[l.n_line]);
            lines[l.n_line].function_id = place->func + 1;
            lines[l.n_line].line = place->line;
            l.n_line++;
        }
        for (size_t k = 0; k < l.n_line; k++)
            list[k] = &lines[k];
        l.id = id;
        l.mapping_id =
            mapping_of(w, w->ft.funcs[w->ft.places[locations_name(&w->loc, id)].func].module);
        l.line = list;
        p.location = locations;
        p.n_location = 1;
        pack(w, &p);
    }
    free(lines);
    free(list);
}

static void pack_functions(struct writer *w)
{
    for (uint32_t i = 1; i < w->ft.nfuncs; i++) { /* 0 is the root's */
        Pprof__Function f = PPROF__FUNCTION__INIT, *list[] = {&f};
        Pprof__Profile p = PPROF__PROFILE__INIT;

        f.id = i + 1;
        /* No system_name: pprof would demangle it, and cut C++ names short. */
        f.name = w->ft.funcs[i].name;
        if (w->ft.funcs[i].file != FUNCTABLE_NONE)
            f.filename = w->ft.funcs[i].file;
        p.function = list;
        p.n_function = 1;
        pack(w, &p);
    }
}

static void pack_strings(struct writer *w)
{
    struct strbuf text = STRBUF_INIT;

    for (uint32_t i = 0; i < w->ft.nstrings; i++) {
        Pprof__Profile p = PPROF__PROFILE__INIT;
        size_t len;
        const char *s = functable_text(&w->ft, i, &len);

        strbuf_clear(&text);
        strbuf_add(&text, s, len);
        p.string_table = &text.buf;
        p.n_string_table = 1;
        pack(w, &p);
    }
    strbuf_release(&text);
}

static int pprof_write(FILE *out, const struct frametree *t, const struct render_options *o)
{
    struct writer w = {.base = {.append = append}};
    int err;

    gzipout_init(&w.gz, out);
    wholevalues_init(&w.whole, t, o, "pprof");
    functable_init(&w.ft);
    string(&w, ""); /* the format wants it first */
    pack_types(&w);
    pack_heading(&w, o);
    pack_mapping(&w, o);
    functable_fill(&w.ft, t, "i");
    pack_modules(&w, o);
    locations_init(&w.loc, t);
    pack_samples(&w);
    pack_locations(&w);
    pack_functions(&w);
    pack_strings(&w);
    locations_release(&w.loc);
    functable_release(&w.ft);
    wholevalues_release(&w.whole);
    err = gzipout_end(&w.gz);
    return err;
}

const struct render_backend export_pprof = {
    .name = "pprof",
    .endings = "pb.gz",
    .what = "pprof's profile, for go tool pprof and most viewers on the web",
    .all_views = true,
    .lines = true,
    .modules = true,
    .write = pprof_write,
};
