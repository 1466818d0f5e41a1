/*
 * OpenTelemetry's profiles: a message ProfilesData of the package profiles.v1development, as of
 * opentelemetry-proto 1.11.0 (https://github.com/open-telemetry/opentelemetry-proto).
 * ExportProfilesServiceRequest has the same fields, so the bytes are a request's body, too.
 *
 * All profiles share tables in one dictionary, whose first rows stand for nothing and have to be
 * there; a profile has one kind of values. Inlined functions (marked _[i]) are lines of their
 * caller's location.
 *
 * A length comes before its content, so the tables and samples are held as bytes until all are
 * known: some ten bytes a sample. Rejected: the dictionary in pieces, which parsers have to
 * merge by the rules of protocol buffers; a receiver that keeps the last piece would lose the
 * rest without a warning.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "render/backend.h"
#include "render/export/functable.h"
#include "render/export/locations.h"
#include "render/export/protoout.h"
#include "render/export/wholevalues.h"
#include "render/framename.h"

/* Fields, by message. */
enum { DATA_RESOURCE_PROFILES = 1, DATA_DICTIONARY = 2 };
enum {
    TABLE_MAPPINGS = 1,
    TABLE_LOCATIONS,
    TABLE_FUNCTIONS,
    TABLE_LINKS,
    TABLE_STRINGS,
    TABLE_ATTRIBUTES,
    TABLE_STACKS
};
enum { RESOURCE_PROFILES_RESOURCE = 1, RESOURCE_PROFILES_SCOPES = 2 };
enum { RESOURCE_ATTRIBUTES = 1 };
enum { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE = 2, ANY_STRING = 1 };
enum { SCOPE_PROFILES_SCOPE = 1, SCOPE_PROFILES_PROFILES = 2, SCOPE_NAME = 1 };
enum { PROFILE_TYPE = 1, PROFILE_SAMPLES = 2, PROFILE_PERIOD_TYPE = 5, PROFILE_PERIOD = 6 };
enum { TYPE_NAME = 1, TYPE_UNIT = 2 };
enum { SAMPLE_STACK = 1, SAMPLE_VALUES = 4 };
enum { MAPPING_FILENAME = 4 };
enum { STACK_LOCATIONS = 1 };
enum { LOCATION_MAPPING = 1, LOCATION_LINES = 3 };
enum { LINE_FUNCTION = 1, LINE_LINE = 2 };
enum { FUNCTION_NAME = 1, FUNCTION_FILENAME = 3 };

struct writer {
    struct wholevalues whole;
    struct functable ft;
    struct locations loc;
    struct strbuf dictionary;
    struct strbuf *samples;   /* of each kind of values, as a profile's fields */
    struct strbuf row, inner; /* messages under construction */
    uint64_t nstacks;
};

/* Units are input like all names. */
static uint32_t string(struct writer *w, const char *s)
{
    struct strbuf text = STRBUF_INIT;
    uint32_t number;

    framename_add_clean(&text, s, strlen(s));
    number = functable_string(&w->ft, text.buf, text.len);
    strbuf_release(&text);
    return number;
}

static void add_row(struct writer *w, unsigned table)
{
    protoout_message(&w->dictionary, table, &w->row);
}

/* Adds the first row of each table, which stands for nothing; that of the strings is "". */
static void add_nothings(struct writer *w)
{
    string(w, "");
    for (unsigned table = TABLE_MAPPINGS; table <= TABLE_STACKS; table++)
        if (table != TABLE_STRINGS)
            add_row(w, table);
    w->nstacks = 1;
}

/* A mapping has the number of its module in the tree. */
static void add_mappings(struct writer *w, const struct frametree *t)
{
    for (uint32_t i = 1; i < t->nmodules; i++) {
        strbuf_clear(&w->inner);
        framename_add_clean(&w->inner, t->modules[i].s, t->modules[i].len);
        protoout_number(&w->row, MAPPING_FILENAME,
                        functable_string(&w->ft, w->inner.buf, w->inner.len));
        add_row(w, TABLE_MAPPINGS);
    }
}

/* The number of the stack down to the last frame; adds the stack. Stack 0 has no frames. */
static uint64_t add_stack(struct writer *w, uint32_t depth)
{
    size_t n;
    const uint64_t *ids = locations_stack(&w->loc, depth, &n);

    if (n == 0)
        return 0;
    strbuf_clear(&w->inner);
    for (size_t i = 0; i < n; i++)
        protoout_varint(&w->inner, ids[i]);
    protoout_message(&w->row, STACK_LOCATIONS, &w->inner);
    add_row(w, TABLE_STACKS);
    return w->nstacks++;
}

static void add_samples(struct writer *w, uint64_t stack)
{
    for (uint32_t i = 0; i < w->whole.n; i++) {
        if (w->whole.values[i] == 0)
            continue;
        protoout_number(&w->row, SAMPLE_STACK, stack);
        strbuf_clear(&w->inner);
        protoout_varint(&w->inner, (uint64_t)w->whole.values[i]);
        protoout_message(&w->row, SAMPLE_VALUES, &w->inner);
        protoout_message(&w->samples[i], PROFILE_SAMPLES, &w->row);
    }
}

static void add_nodes(struct writer *w, const struct frametree *t)
{
    uint32_t depth = 0;

    for (uint32_t i = 0; i != FRAMETREE_NONE; i = frametree_next(t, i, true, &depth)) {
        locations_step(&w->loc, t->nodes[i].name, depth);
        if (wholevalues_take(&w->whole, i))
            add_samples(w, add_stack(w, depth));
    }
}

static void add_line(struct writer *w, const struct functable_place *place)
{
    strbuf_clear(&w->inner);
    protoout_number(&w->inner, LINE_FUNCTION, place->func);
    protoout_number(&w->inner, LINE_LINE, place->line);
    protoout_message(&w->row, LOCATION_LINES, &w->inner);
}

static void add_locations(struct writer *w)
{
    for (uint32_t id = 1; id <= w->loc.n; id++) {
        const struct functable_place *place = &w->ft.places[locations_name(&w->loc, id)];

        protoout_number(&w->row, LOCATION_MAPPING, w->ft.funcs[place->func].module);
        for (uint32_t at = id; at; at = locations_outer(&w->loc, at))
            add_line(w, &w->ft.places[locations_name(&w->loc, at)]);
        add_row(w, TABLE_LOCATIONS);
    }
}

/* Adds all functions but 0, which is the root's, and stands for no function in the format. */
static void add_functions(struct writer *w)
{
    for (uint32_t i = 1; i < w->ft.nfuncs; i++) {
        const struct functable_func *f = &w->ft.funcs[i];

        protoout_number(&w->row, FUNCTION_NAME, f->name);
        protoout_number(&w->row, FUNCTION_FILENAME, f->file == FUNCTABLE_NONE ? 0 : f->file);
        add_row(w, TABLE_FUNCTIONS);
    }
}

static void add_strings(struct writer *w)
{
    for (uint32_t i = 0; i < w->ft.nstrings; i++) {
        size_t len;
        const char *s = functable_text(&w->ft, i, &len);

        protoout_bytes(&w->dictionary, TABLE_STRINGS, s, len);
    }
}

static void add_type(struct writer *w, struct strbuf *sb, unsigned field, const char *name,
                     const char *unit)
{
    protoout_number(&w->row, TYPE_NAME, string(w, name));
    protoout_number(&w->row, TYPE_UNIT, string(w, unit));
    protoout_message(sb, field, &w->row);
}

/* Appends all profiles to `scope`, and frees each one's samples. */
static void add_profiles(struct writer *w, struct strbuf *scope, const struct render_options *o)
{
    struct strbuf heading = STRBUF_INIT;

    for (uint32_t i = 0; i < w->whole.n; i++) {
        strbuf_clear(&w->inner);
        add_type(w, &heading, PROFILE_TYPE, wholevalues_name(&w->whole, i, &w->inner),
                 w->whole.unit[i]);
        if (o->sample) {
            add_type(w, &heading, PROFILE_PERIOD_TYPE, "space", "bytes");
            protoout_number(&heading, PROFILE_PERIOD,
                            o->sample < INT64_MAX ? o->sample : INT64_MAX);
        }
        protoout_begin(scope, SCOPE_PROFILES_PROFILES, heading.len + w->samples[i].len);
        strbuf_add(scope, heading.buf, heading.len);
        strbuf_add(scope, w->samples[i].buf, w->samples[i].len);
        strbuf_clear(&heading);
        strbuf_release(&w->samples[i]);
    }
    strbuf_release(&heading);
}

/* Adds the profiled program, as far as it is known, as an attribute of the resource. */
static void add_resource(struct writer *w, struct strbuf *sb, const char *command)
{
    static const char key[] = "process.executable.name";
    struct strbuf value = STRBUF_INIT;

    if (*command) {
        strbuf_clear(&w->inner);
        framename_add_clean(&w->inner, command, strlen(command));
        protoout_message(&value, ANY_STRING, &w->inner);
        protoout_bytes(&w->inner, KEY_VALUE_KEY, key, sizeof key - 1);
        protoout_message(&w->inner, KEY_VALUE_VALUE, &value);
        protoout_message(&w->row, RESOURCE_ATTRIBUTES, &w->inner);
    }
    protoout_message(sb, RESOURCE_PROFILES_RESOURCE, &w->row);
    strbuf_release(&value);
}

static void add_resource_profiles(struct writer *w, struct strbuf *sb,
                                  const struct render_options *o)
{
    struct strbuf scope = STRBUF_INIT;

    add_resource(w, sb, o->command);
    protoout_bytes(&w->row, SCOPE_NAME, "flame", strlen("flame"));
    protoout_message(&scope, SCOPE_PROFILES_SCOPE, &w->row);
    add_profiles(w, &scope, o);
    protoout_message(sb, RESOURCE_PROFILES_SCOPES, &scope);
    strbuf_release(&scope);
}

static int write_field(FILE *out, unsigned field, const struct strbuf *message)
{
    struct strbuf head = STRBUF_INIT;
    bool good;

    protoout_begin(&head, field, message->len);
    errno = 0;
    good = fwrite(head.buf, 1, head.len, out) == head.len &&
           fwrite(message->buf, 1, message->len, out) == message->len;
    strbuf_release(&head);
    return good ? 0 : errno ? -errno : -EIO;
}

static void fill(struct writer *w, const struct frametree *t)
{
    functable_init(&w->ft);
    add_nothings(w);
    functable_fill(&w->ft, t, "i");
    add_mappings(w, t);
    locations_init(&w->loc, t);
    add_nodes(w, t);
    add_locations(w);
    add_functions(w);
}

static int otlp_write(FILE *out, const struct frametree *t, const struct render_options *o)
{
    struct writer w = {.dictionary = STRBUF_INIT, .row = STRBUF_INIT, .inner = STRBUF_INIT};
    struct strbuf profiles = STRBUF_INIT;
    int err;

    wholevalues_init(&w.whole, t, o, "otlp");
    w.samples = xcalloc(w.whole.n, sizeof *w.samples);
    for (uint32_t i = 0; i < w.whole.n; i++)
        w.samples[i] = (struct strbuf)STRBUF_INIT;
    fill(&w, t);
    add_resource_profiles(&w, &profiles, o);
    add_strings(&w); /* last, as all others add to them */
    err = write_field(out, DATA_RESOURCE_PROFILES, &profiles);
    if (!err)
        err = write_field(out, DATA_DICTIONARY, &w.dictionary);
    locations_release(&w.loc);
    functable_release(&w.ft);
    wholevalues_release(&w.whole);
    free(w.samples); /* add_profiles has emptied them */
    strbuf_release(&w.dictionary);
    strbuf_release(&w.row);
    strbuf_release(&w.inner);
    strbuf_release(&profiles);
    return err;
}

const struct render_backend export_otlp = {
    .name = "otlp",
    .what = "OpenTelemetry's profiles (OTLP), as collectors take them",
    .all_views = true,
    .lines = true,
    .modules = true,
    .write = otlp_write,
};
