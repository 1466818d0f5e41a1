/*
 * pprof's profiles: protocol buffers, as https://github.com/google/pprof/blob/main/proto
 * describes them (profile.proto); textinput has unpacked them.
 *
 * The parts of a profile refer to each other by ids, in any order, so the bytes are read twice:
 * first for strings, functions, mappings and locations, of which each location becomes the ids
 * of its frames; then for the samples, which are most of the file and are not kept. A location's
 * first line is the innermost; all but its last were inlined.
 *
 * Counts are whole and signed. Counts below 0 (of a profile that is the difference of two) have
 * no place in folded stacks: they are left out, and a warning has their sum. The format's
 * drop_frames are not applied: all frames that were recorded are there.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/folded.h"
#include "fold/decode/idindex.h"
#include "fold/collapse/located.h"
#include "fold/decode/protoread.h"
#include "fold/collapse/readers.h"

/* Functions inlined into one another at one location; more were made to be slow. */
enum { LINES_MAX = 4096 };

/* The fields of profile.proto, by message. */
enum { SAMPLE_TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING, DEFAULT_TYPE = 14, FIELDS };
enum { LOCATION_MAPPING = 2, LOCATION_ADDRESS, LOCATION_LINE };
enum { FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { MAPPING_FILE = 5 };

struct pprof {
    struct collapse *c;
    struct strbuf bytes;
    struct span *strings;
    size_t nstrings, strings_alloc;
    struct span *types; /* their messages, then their names */
    size_t ntypes, types_alloc;
    uint64_t default_type; /* a string */
    struct function {
        const char *at;
        uint64_t name, system_name, file; /* strings */
    } * functions;
    size_t nfunctions, functions_alloc;
    struct {
        const char *at;
        uint64_t file;
    } * mappings;
    size_t nmappings, mappings_alloc;
    struct location {
        const char *at;
        uint64_t mapping, address;
        size_t first, n; /* its lines, later its frames */
    } * locations;
    size_t nlocations, locations_alloc;
    struct line {
        uint64_t function, number;
    } * lines;
    size_t nlines, lines_alloc;
    uint32_t *frames;
    size_t nframes, frames_alloc;
    struct idindex function_ids, mapping_ids, location_ids;
    size_t type;     /* which value of a sample counts */
    uint64_t pushed; /* frames of all samples so far */
    uint64_t negative;
};

static bool damaged(struct pprof *p, const char *at, const char *what)
{
    collapse_damaged(p->c, (size_t)(at - p->bytes.buf), "%s", what);
    return false;
}

/* At the end of a message: whether it was right. */
static bool ended(struct pprof *p, const struct proto *m)
{
    return m->why ? damaged(p, m->s, m->why) : true;
}

/* A string by its number; empty and damage if there is none. */
static struct span string(struct pprof *p, uint64_t number, const char *at)
{
    if (number < p->nstrings)
        return p->strings[number];
    if (number > 0)
        damaged(p, at, "names a string that is not in the profile");
    return (struct span){"", 0};
}

static bool read_function(struct pprof *p, const struct proto_field *whole)
{
    struct proto m = proto_of(whole->bytes);
    struct function fn = {.at = whole->at};
    struct proto_field f;
    uint64_t id = 0;

    while (proto_field(&m, &f)) {
        if (f.number == 1)
            id = f.value;
        else if (f.number == FUNCTION_NAME)
            fn.name = f.value;
        else if (f.number == FUNCTION_SYSTEM_NAME)
            fn.system_name = f.value;
        else if (f.number == FUNCTION_FILE)
            fn.file = f.value;
    }
    idindex_add(&p->function_ids, id);
    GROW(p->functions, p->nfunctions, p->functions_alloc);
    p->functions[p->nfunctions++] = fn;
    return ended(p, &m);
}

static bool read_mapping(struct pprof *p, const struct proto_field *whole)
{
    struct proto m = proto_of(whole->bytes);
    struct proto_field f;
    uint64_t id = 0, file = 0;

    while (proto_field(&m, &f)) {
        if (f.number == 1)
            id = f.value;
        else if (f.number == MAPPING_FILE)
            file = f.value;
    }
    idindex_add(&p->mapping_ids, id);
    GROW(p->mappings, p->nmappings, p->mappings_alloc);
    p->mappings[p->nmappings].at = whole->at;
    p->mappings[p->nmappings++].file = file;
    return ended(p, &m);
}

static bool read_line(struct pprof *p, const struct proto_field *whole)
{
    struct proto m = proto_of(whole->bytes);
    struct line line = {0, 0};
    struct proto_field f;

    while (proto_field(&m, &f)) {
        if (f.number == 1)
            line.function = f.value;
        else if (f.number == 2)
            line.number = f.value;
    }
    GROW(p->lines, p->nlines, p->lines_alloc);
    p->lines[p->nlines++] = line;
    return ended(p, &m);
}

static bool read_location(struct pprof *p, const struct proto_field *whole)
{
    struct location loc = {.at = whole->at, .first = p->nlines};
    struct proto m = proto_of(whole->bytes);
    struct proto_field f;
    uint64_t id = 0;
    bool good = true;

    while (good && proto_field(&m, &f)) {
        if (f.number == 1)
            id = f.value;
        else if (f.number == LOCATION_MAPPING)
            loc.mapping = f.value;
        else if (f.number == LOCATION_ADDRESS)
            loc.address = f.value;
        else if (f.number == LOCATION_LINE && !f.whole)
            good = read_line(p, &f);
    }
    loc.n = p->nlines - loc.first;
    if (loc.n > LINES_MAX)
        return damaged(p, loc.at, "a location of more than 4096 inlined functions");
    idindex_add(&p->location_ids, id);
    GROW(p->locations, p->nlocations, p->locations_alloc);
    p->locations[p->nlocations++] = loc;
    return good && ended(p, &m);
}

/* All but the samples. */
static bool read_tables(struct pprof *p)
{
    struct proto m = proto_of((struct span){p->bytes.buf, p->bytes.len});
    struct proto_field f;
    bool good = true;

    while (good && proto_field(&m, &f)) {
        if (f.whole && f.number == DEFAULT_TYPE)
            p->default_type = f.value;
        if (f.whole)
            continue;
        if (f.number == STRING) {
            GROW(p->strings, p->nstrings, p->strings_alloc);
            p->strings[p->nstrings++] = f.bytes;
        } else if (f.number == SAMPLE_TYPE) {
            GROW(p->types, p->ntypes, p->types_alloc);
            p->types[p->ntypes++] = f.bytes;
        } else if (f.number == FUNCTION) {
            good = read_function(p, &f);
        } else if (f.number == MAPPING) {
            good = read_mapping(p, &f);
        } else if (f.number == LOCATION) {
            good = read_location(p, &f);
        }
    }
    return good && ended(p, &m);
}

static bool index_tables(struct pprof *p)
{
    size_t twice;

    if (!idindex_finish(&p->function_ids, &twice))
        return damaged(p, p->functions[twice].at, "a second function of the same id");
    if (!idindex_finish(&p->mapping_ids, &twice))
        return damaged(p, p->mappings[twice].at, "a second mapping of the same id");
    if (!idindex_finish(&p->location_ids, &twice))
        return damaged(p, p->locations[twice].at, "a second location of the same id");
    return true;
}

static void add_frame(struct pprof *p, const struct located *l)
{
    GROW(p->frames, p->nframes, p->frames_alloc);
    p->frames[p->nframes++] = collapse_located(p->c, l);
}

/* A location that no function is known of: by its address if that is asked for or all there is. */
static void name_address(struct pprof *p, struct located *l, uint64_t address)
{
    char text[32];

    snprintf(text, sizeof text, "0x%" PRIx64, address);
    if (address && (p->c->opt->addrs || l->module.len == 0))
        l->name = span_of(text);
    add_frame(p, l);
}

/* Makes frames of its lines. */
static bool name_location(struct pprof *p, struct location *loc)
{
    struct located l = {0};
    size_t first = p->nframes, at;

    if (loc->mapping) {
        at = idindex_find(&p->mapping_ids, loc->mapping);
        if (at == SIZE_MAX)
            return damaged(p, loc->at, "a location is in a mapping that is not in the profile");
        l.module = string(p, p->mappings[at].file, p->mappings[at].at);
    }
    for (size_t i = 0; i < loc->n; i++) {
        const struct line *line = &p->lines[loc->first + i];
        const struct function *fn;

        at = idindex_find(&p->function_ids, line->function);
        if (at == SIZE_MAX && line->function)
            return damaged(p, loc->at, "a location is in a function that is not in the profile");
        if (at == SIZE_MAX)
            continue;
        fn = &p->functions[at];
        l.name = string(p, fn->name, fn->at);
        if (l.name.len == 0)
            l.name = string(p, fn->system_name, fn->at);
        l.file = string(p, fn->file, fn->at);
        l.line = line->number <= INT64_MAX ? line->number : 0;
        l.inlined = i + 1 < loc->n;
        add_frame(p, &l);
    }
    if (p->nframes == first)
        name_address(p, &l, loc->address);
    loc->first = first;
    loc->n = p->nframes - first;
    return !p->c->in.error;
}

static bool pick_type(struct pprof *p)
{
    struct span wanted = string(p, p->default_type, p->bytes.buf);
    size_t otherwise = p->ntypes - 1; /* as pprof itself has it, where none is said to be it */

    for (size_t i = 0; i < p->ntypes; i++) {
        struct proto m = proto_of(p->types[i]);
        const char *at = p->types[i].s;
        struct proto_field f;

        p->types[i] = (struct span){"", 0};
        while (proto_field(&m, &f))
            if (f.number == 1)
                p->types[i] = string(p, f.value, at);
        if (!ended(p, &m) || p->c->in.error)
            return false;
    }
    for (size_t i = p->ntypes; i-- > 0;)
        if (wanted.len && p->types[i].len == wanted.len &&
            memcmp(p->types[i].s, wanted.s, wanted.len) == 0)
            otherwise = i;
    if (p->ntypes == 0)
        return damaged(p, p->bytes.buf, "does not say what its values are (no sample_type)");
    p->type = collapse_pick_type(p->c, p->types, p->ntypes, otherwise);
    return p->type < p->ntypes;
}

/* "key=value" of a label, if its key is `key`. */
static bool push_label(struct pprof *p, struct span label, const char *key, size_t key_len)
{
    struct proto m = proto_of(label);
    struct span name = {"", 0}, text = {"", 0}, unit = {"", 0};
    struct strbuf *frame = &p->c->scratch;
    struct proto_field f;
    uint64_t number = 0;

    while (proto_field(&m, &f)) {
        if (f.number == 1)
            name = string(p, f.value, f.at);
        else if (f.number == 2)
            text = string(p, f.value, f.at);
        else if (f.number == 3)
            number = f.value;
        else if (f.number == 4)
            unit = string(p, f.value, f.at);
    }
    if (!ended(p, &m) || p->c->in.error)
        return false;
    if (name.len != key_len || memcmp(name.s, key, key_len) != 0)
        return true;
    strbuf_clear(frame);
    strbuf_add(frame, key, key_len);
    strbuf_addch(frame, '=');
    if (text.len)
        strbuf_add(frame, text.s, text.len);
    else
        strbuf_addf(frame, "%" PRId64 "%.*s", (int64_t)number, (int)(unit.len < 64 ? unit.len : 64),
                    unit.s);
    collapse_push(p->c, frame->buf, frame->len);
    return true;
}

/* The labels that opt->label asks for, "a,b": a is nearest to the root, so it is pushed last. */
static bool push_labels(struct pprof *p, struct span sample)
{
    const char *keys = p->c->opt->label;
    size_t end = keys ? strlen(keys) : 0;

    while (end > 0) {
        struct proto m = proto_of(sample);
        struct proto_field f;
        size_t start = end;

        while (start > 0 && keys[start - 1] != ',')
            start--;
        while (proto_field(&m, &f))
            if (f.number == SAMPLE_LABEL && !f.whole &&
                !push_label(p, f.bytes, keys + start, end - start))
                return false;
        end = start ? start - 1 : 0;
    }
    return true;
}

static bool push_location(struct pprof *p, uint64_t id, const char *at)
{
    size_t i = idindex_find(&p->location_ids, id);

    if (i == SIZE_MAX)
        return damaged(p, at, "a sample is at a location that is not in the profile");
    if (p->c->n + p->locations[i].n > FOLDED_FRAMES_MAX)
        return damaged(p, at, "a stack of more than 4194304 frames, the most one may have");
    p->pushed += p->locations[i].n;
    if (p->pushed > collapse_frames_most(p->bytes.len))
        return damaged(p, at, COLLAPSE_FRAMES_TOO_MANY);
    for (size_t k = 0; k < p->locations[i].n; k++)
        collapse_push_id(p->c, p->frames[p->locations[i].first + k]);
    return true;
}

/* A field of numbers, one or packed: locations are pushed, of values the one that counts taken. */
static bool read_numbers(struct pprof *p, const struct proto_field *f, size_t *nvalues,
                         int64_t *value)
{
    struct proto m = f->whole ? (struct proto){0} : proto_of(f->bytes);
    uint64_t number = f->value;
    bool more = f->whole || proto_number(&m, &number);

    for (; more; more = !f->whole && proto_number(&m, &number)) {
        if (f->number == SAMPLE_LOCATION) {
            if (!push_location(p, number, f->at))
                return false;
        } else if ((*nvalues)++ == p->type) {
            *value = (int64_t)number;
        }
    }
    return ended(p, &m);
}

static bool read_sample(struct pprof *p, const struct proto_field *whole)
{
    struct proto m = proto_of(whole->bytes);
    struct stackset_count count = {0, 0};
    size_t nvalues = 0;
    int64_t value = 0;
    struct proto_field f;

    while (proto_field(&m, &f))
        if ((f.number == SAMPLE_LOCATION || f.number == SAMPLE_VALUE) &&
            !read_numbers(p, &f, &nvalues, &value))
            return false;
    if (!ended(p, &m))
        return false;
    if (nvalues != p->ntypes)
        return damaged(p, whole->at, "a sample has not as many values as the profile has kinds");
    if (!push_labels(p, whole->bytes))
        return false;
    p->negative += value < 0;
    count.whole = (uint64_t)value;
    if (value > 0 && p->c->n > 0)
        collapse_flush(p->c, LEAF_FIRST, &count);
    collapse_drop(p->c);
    return true;
}

static void read_samples(struct pprof *p)
{
    struct proto m = proto_of((struct span){p->bytes.buf, p->bytes.len});
    struct proto_field f;

    while (proto_field(&m, &f))
        if (f.number == SAMPLE && !f.whole && !read_sample(p, &f))
            return;
    if (p->negative)
        flame_warn("%s: %" PRIu64 " sample%s of less than 0 %s left out: the profile is a "
                   "difference, which folded stacks cannot hold",
                   p->c->in.name, p->negative, p->negative == 1 ? "" : "s",
                   p->negative == 1 ? "was" : "were");
}

void collapse_pprof_run(struct collapse *c)
{
    struct pprof p = {.c = c, .bytes = STRBUF_INIT};
    bool good = textinput_all(&c->in, &p.bytes) && p.bytes.len > 0;

    good = good && read_tables(&p) && index_tables(&p) && pick_type(&p);
    for (size_t i = 0; good && i < p.nlocations; i++)
        good = name_location(&p, &p.locations[i]);
    if (good)
        read_samples(&p);
    collapse_drop(c);
    idindex_release(&p.function_ids);
    idindex_release(&p.mapping_ids);
    idindex_release(&p.location_ids);
    free(p.strings);
    free(p.types);
    free(p.functions);
    free(p.mappings);
    free(p.locations);
    free(p.lines);
    free(p.frames);
    strbuf_release(&p.bytes);
}

/* Whether a message has these fields alone: bit n of `whole` (`bytes`) for number n. */
static bool has_only(struct span message, uint32_t whole, uint32_t bytes)
{
    struct proto m = proto_of(message);
    struct proto_field f;

    while (proto_field(&m, &f))
        if (f.number > 31 || !((f.whole ? whole : bytes) >> f.number & 1))
            return false;
    return !m.why;
}

/*
 * Text never has what numbers and types of a profile's fields look like: small bytes that are
 * control characters. Fields that later versions add end the look, but not the belief.
 */
int collapse_pprof_probe(const char *text, size_t len)
{
    static const struct {
        uint32_t whole, bytes;
    } known[FIELDS] = {
        [SAMPLE_TYPE] = {0x6, 0},    [SAMPLE] = {0x6, 0xe},  [MAPPING] = {0x7fe, 0},
        [LOCATION] = {0x2e, 1 << 4}, [FUNCTION] = {0x3e, 0}, [11] = {0x6, 0},
    };
    struct proto m = proto_of((struct span){text, len});
    struct proto_field f;
    bool some = false;

    while (proto_field(&m, &f)) {
        if (f.number > 15)
            return 0;
        if (f.whole || f.number >= FIELDS || !(known[f.number].whole | known[f.number].bytes))
            continue;
        if (!has_only(f.bytes, known[f.number].whole, known[f.number].bytes))
            return 0;
        some |= f.bytes.len > 0;
    }
    return some ? 97 : 0;
}
