/*
 * speedscope's file format, JSON, which py-spy, rbspy, pyinstrument, Austin, dotnet-trace and
 * flame itself write: https://www.speedscope.app/file-format-schema.json
 *
 * Frames are shared by all profiles, which are "sampled" (lists of frames from the root, each
 * with a weight) or "evented" (frames open and close in time; the open frames have the time
 * until the next event). Members of objects come in any order, so their places in the text are
 * stored first, and the lists are read once all that they refer to is known. Memory does not
 * grow with the lists.
 *
 * Times of all units become microseconds, exactly, so that profiles of several units add up.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "fold/stacks/decimal.h"
#include "fold/decode/jsonread.h"
#include "fold/collapse/located.h"
#include "fold/collapse/readers.h"

/* The kinds of values, by unit. */
enum kind { TIME, BYTES, NONE, KINDS };

static const char *const kind_names[KINDS] = {"time", "bytes", "none"};

struct profile {
    const char *at;                         /* its '{' */
    const char *samples, *weights, *events; /* their '[', or NULL */
    const char *end_value;                  /* a number, or NULL */
    struct strbuf name;
    enum kind kind;
    int64_t scale; /* as for decimal_scale, to microseconds */
};

struct scope {
    struct collapse *c;
    struct strbuf text, key, word, file;
    struct json j;
    uint32_t *frames; /* ids of names */
    size_t nframes, frames_alloc;
    struct profile *profiles;
    size_t nprofiles, profiles_alloc;
    uint64_t active;
    uint32_t *open; /* numbers of frames, by the events up to now */
    size_t nopen, open_alloc;
};

static bool damaged(struct scope *s, const char *at, const char *what)
{
    collapse_damaged_text(s->c, s->text.buf, at, "%s", what);
    return false;
}

/* Whether reading can continue; broken JSON ends the input. */
static bool is_well(struct scope *s)
{
    if (s->j.bad && !s->c->in.error)
        damaged(s, s->j.s,
                s->j.s == s->j.end ? "the JSON ends too early" : "is no JSON of speedscope's");
    return !s->c->in.error;
}

static decimal number(struct scope *s)
{
    struct span text;
    decimal value = 0;

    if (json_number(&s->j, &text) && !decimal_parse(text, &value))
        damaged(s, text.s, "a number that is out of all bounds, or none");
    return value;
}

/* A number that counts or refers to something; UINT64_MAX if it is negative or broken. */
static uint64_t ordinal(struct scope *s)
{
    struct stackset_count count;
    struct span text;

    if (!json_number(&s->j, &text))
        return UINT64_MAX;
    if (!stackset_count_parse(text.s, text.len, &count) || count.part)
        return UINT64_MAX;
    return count.whole;
}

/* The place of the next value, if it is of that kind; else NULL. Skips the value. */
static const char *note(struct scope *s, char kind)
{
    const char *at = json_peek(&s->j) == kind ? s->j.s : NULL;

    json_skip(&s->j);
    return at;
}

/* ---- frames ---- */

static void read_frame(struct scope *s)
{
    struct located l = {.line = 0};

    strbuf_clear(&s->word);
    strbuf_clear(&s->file);
    json_enter(&s->j, '{');
    while (json_key(&s->j, &s->key)) {
        bool text = json_peek(&s->j) == '"';

        if (text && strcmp(s->key.buf, "name") == 0)
            json_string(&s->j, &s->word);
        else if (text && strcmp(s->key.buf, "file") == 0)
            json_string(&s->j, &s->file);
        else if (json_peek(&s->j) == '0' && strcmp(s->key.buf, "line") == 0)
            l.line = ordinal(s);
        else
            json_skip(&s->j);
    }
    l.line = l.line == UINT64_MAX ? 0 : l.line;
    l.name = (struct span){s->word.buf, s->word.len};
    l.file = l.module = (struct span){s->file.buf, s->file.len};
    GROW(s->frames, s->nframes, s->frames_alloc);
    s->frames[s->nframes++] = collapse_located(s->c, &l);
}

static void read_shared(struct scope *s)
{
    json_enter(&s->j, '{');
    while (json_key(&s->j, &s->key)) {
        if (strcmp(s->key.buf, "frames") != 0) {
            json_skip(&s->j);
            continue;
        }
        json_enter(&s->j, '[');
        while (json_item(&s->j) && !s->c->in.error)
            read_frame(s);
    }
}

/* ---- profiles: their members ---- */

static void read_unit(struct scope *s, struct profile *p)
{
    static const struct {
        const char *name;
        enum kind kind;
        int64_t scale;
    } units[] = {
        {"none", NONE, 1},         {"bytes", BYTES, 1},          {"nanoseconds", TIME, -1000},
        {"microseconds", TIME, 1}, {"milliseconds", TIME, 1000}, {"seconds", TIME, 1000000},
    };
    const char *at = s->j.s;

    json_string(&s->j, &s->word);
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (strcmp(s->word.buf, units[i].name) == 0) {
            p->kind = units[i].kind;
            p->scale = units[i].scale;
            return;
        }
    if (!s->j.bad)
        damaged(s, at, "a unit that speedscope does not have");
}

static void read_profile(struct scope *s)
{
    struct profile p = {.at = s->j.s, .name = STRBUF_INIT, .kind = NONE, .scale = 1};

    json_enter(&s->j, '{');
    while (json_key(&s->j, &s->key) && !s->c->in.error) {
        if (strcmp(s->key.buf, "samples") == 0)
            p.samples = note(s, '[');
        else if (strcmp(s->key.buf, "weights") == 0)
            p.weights = note(s, '[');
        else if (strcmp(s->key.buf, "events") == 0)
            p.events = note(s, '[');
        else if (strcmp(s->key.buf, "endValue") == 0)
            p.end_value = note(s, '0');
        else if (strcmp(s->key.buf, "name") == 0 && json_peek(&s->j) == '"')
            json_string(&s->j, &p.name);
        else if (strcmp(s->key.buf, "unit") == 0)
            read_unit(s, &p);
        else
            json_skip(&s->j);
    }
    GROW(s->profiles, s->nprofiles, s->profiles_alloc);
    s->profiles[s->nprofiles++] = p;
}

static bool read_all(struct scope *s)
{
    json_enter(&s->j, '{');
    while (json_key(&s->j, &s->key) && !s->c->in.error) {
        if (strcmp(s->key.buf, "shared") == 0) {
            read_shared(s);
        } else if (strcmp(s->key.buf, "profiles") == 0) {
            json_enter(&s->j, '[');
            while (json_item(&s->j) && !s->c->in.error)
                read_profile(s);
        } else if (strcmp(s->key.buf, "activeProfileIndex") == 0 && json_peek(&s->j) == '0') {
            s->active = ordinal(s);
        } else {
            json_skip(&s->j);
        }
    }
    return is_well(s);
}

/* ---- profiles: their values ---- */

/* The number of a frame of the shared list, or UINT32_MAX. */
static uint32_t read_index(struct scope *s)
{
    const char *at = s->j.s;
    uint64_t i = ordinal(s);

    if (!s->j.bad && i >= s->nframes)
        damaged(s, at, "a frame that is not among the shared ones");
    return s->j.bad || i >= s->nframes ? UINT32_MAX : (uint32_t)i;
}

static void begin_stack(struct scope *s, const struct profile *p, bool named)
{
    if (named && p->name.len)
        collapse_push(s->c, p->name.buf, p->name.len);
}

static void flush(struct scope *s, decimal weight, size_t before)
{
    struct stackset_count count = decimal_count(weight);

    if (weight > 0 && s->c->n > before && !s->c->in.error)
        collapse_flush(s->c, ROOT_FIRST, &count);
    collapse_drop(s->c);
}

static decimal in_unit(struct scope *s, const struct profile *p, const char *at, decimal value)
{
    if (!decimal_scale(&value, p->scale))
        damaged(s, at, "a value that is out of all bounds");
    return value;
}

/* Pushes a stack of the list of samples, at its '['. */
static void push_stack(struct scope *s)
{
    json_enter(&s->j, '[');
    while (json_item(&s->j) && !s->c->in.error) {
        uint32_t frame = read_index(s);

        if (frame != UINT32_MAX)
            collapse_push_id(s->c, s->frames[frame]);
    }
}

/* Reads two parallel lists: stacks and their weights. */
static void add_samples(struct scope *s, const struct profile *p, bool named)
{
    struct json weights = {p->weights, s->j.end, false}, stacks = {p->samples, s->j.end, false};

    json_enter(&weights, '[');
    json_enter(&stacks, '[');
    while (!s->c->in.error) {
        bool stack = json_item(&stacks), weight = json_item(&weights);
        const char *at = weights.s;
        decimal value;
        size_t before;

        s->j = stacks.bad ? stacks : weights;
        if (!is_well(s) || (!stack && !weight))
            break;
        if (stack != weight) {
            damaged(s, p->at, "a profile that has not as many weights as samples");
            break;
        }
        value = number(s);
        if (value < 0)
            damaged(s, at, "a weight that is less than 0");
        if (!is_well(s))
            break;
        weights = s->j;
        begin_stack(s, p, named);
        before = s->c->n;
        s->j = stacks;
        push_stack(s);
        stacks = s->j;
        if (is_well(s))
            flush(s, in_unit(s, p, at, value), before);
    }
    collapse_drop(s->c);
}

struct event {
    const char *at;
    char type; /* 'O', 'C' */
    uint32_t frame;
    decimal when;
};

static struct event read_event(struct scope *s)
{
    struct event e = {.at = s->j.s, .frame = UINT32_MAX};
    bool timed = false;

    json_enter(&s->j, '{');
    while (json_key(&s->j, &s->key) && !s->c->in.error) {
        if (strcmp(s->key.buf, "type") == 0) {
            json_string(&s->j, &s->word);
            e.type = s->word.len == 1 ? s->word.buf[0] : 0;
        } else if (strcmp(s->key.buf, "frame") == 0) {
            e.frame = read_index(s);
        } else if (strcmp(s->key.buf, "at") == 0) {
            e.when = number(s);
            timed = true;
        } else {
            json_skip(&s->j);
        }
    }
    if (is_well(s) && (!timed || e.frame == UINT32_MAX || (e.type != 'O' && e.type != 'C')))
        damaged(s, e.at, "an event without type O or C, frame and time");
    return e;
}

/* Adds the time from `from` to `to` to the stack of open frames. */
static void pass_time(struct scope *s, const struct profile *p, bool named, const char *at,
                      decimal from, decimal to)
{
    decimal lasted;
    size_t before;

    if (to < from || __builtin_sub_overflow(to, from, &lasted)) {
        damaged(s, at, "time that goes backwards");
        return;
    }
    if (lasted == 0 || s->nopen == 0)
        return;
    begin_stack(s, p, named);
    before = s->c->n;
    for (size_t i = 0; i < s->nopen; i++)
        collapse_push_id(s->c, s->frames[s->open[i]]);
    flush(s, in_unit(s, p, at, lasted), before);
}

static void add_events(struct scope *s, const struct profile *p, bool named)
{
    decimal now = 0;
    bool first = true;

    s->nopen = 0;
    s->j = (struct json){p->events, s->j.end, false};
    json_enter(&s->j, '[');
    while (json_item(&s->j) && !s->c->in.error) {
        struct event e = read_event(s);

        if (!is_well(s))
            return;
        pass_time(s, p, named, e.at, first ? e.when : now, e.when);
        now = e.when;
        first = false;
        if (e.type == 'O') {
            GROW(s->open, s->nopen, s->open_alloc);
            s->open[s->nopen++] = e.frame;
        } else if (s->nopen == 0 || s->open[s->nopen - 1] != e.frame) {
            damaged(s, e.at, "an event that closes a frame that is not the innermost one");
        } else {
            s->nopen--;
        }
    }
    if (is_well(s) && s->nopen && p->end_value) {
        s->j.s = p->end_value;
        pass_time(s, p, named, p->end_value, now, number(s));
    }
}

static void add_profile(struct scope *s, const struct profile *p, bool named)
{
    if (p->events)
        add_events(s, p, named);
    else if (p->samples && p->weights)
        add_samples(s, p, named);
    else
        damaged(s, p->at, "a profile without events, or samples and weights");
}

/* ---- choice of profiles ---- */

static bool is_called(const struct profile *p, const char *name)
{
    return name && span_is((struct span){p->name.buf, p->name.len}, name);
}

/*
 * Adds the profiles that --type picks: the one with that name, or all with that kind of values.
 * Without --type, the profile that is shown first gives the kind.
 */
static void add_profiles(struct scope *s)
{
    const char *type = s->c->opt->type;
    bool present[KINDS] = {false}, by_name = false, counts;
    struct span types[KINDS];
    enum kind kinds[KINDS], kind = NONE;
    size_t n = 0, otherwise = 0, picked = 0;

    for (size_t i = 0; i < s->nprofiles; i++) {
        present[s->profiles[i].kind] = true;
        by_name |= is_called(&s->profiles[i], type);
    }
    for (enum kind k = 0; k < KINDS; k++)
        if (present[k]) {
            if (s->active < s->nprofiles && s->profiles[s->active].kind == k)
                otherwise = n;
            kinds[n] = k;
            types[n++] = span_of(kind_names[k]);
        }
    if (n == 0)
        return;
    if (!by_name) {
        size_t pick = collapse_pick_type(s->c, types, n, otherwise);

        if (s->c->in.error)
            return;
        kind = kinds[pick];
    }
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < s->nprofiles && !s->c->in.error; i++) {
            const struct profile *p = &s->profiles[i];

            counts = by_name ? is_called(p, type) : p->kind == kind;
            if (pass == 0)
                picked += counts;
            else if (counts)
                add_profile(s, p, picked > 1);
        }
}

void collapse_speedscope_run(struct collapse *c)
{
    struct scope s = {
        .c = c, .text = STRBUF_INIT, .key = STRBUF_INIT, .word = STRBUF_INIT, .file = STRBUF_INIT};

    if (textinput_all(&c->in, &s.text) && s.text.len > 0) {
        s.j = (struct json){s.text.buf, s.text.buf + s.text.len, false};
        if (read_all(&s))
            add_profiles(&s);
    }
    collapse_drop(c);
    for (size_t i = 0; i < s.nprofiles; i++)
        strbuf_release(&s.profiles[i].name);
    free(s.profiles);
    free(s.frames);
    free(s.open);
    strbuf_release(&s.text);
    strbuf_release(&s.key);
    strbuf_release(&s.word);
    strbuf_release(&s.file);
}

int collapse_speedscope_probe(const char *text, size_t len)
{
    struct span all = span_ltrim((struct span){text, len});

    if (!span_begins(all, "{"))
        return 0;
    if (span_find(all, "speedscope.app/file-format-schema.json\""))
        return 97;
    return span_find(all, "\"shared\"") && span_find(all, "\"frames\"") &&
                   (span_find(all, "\"profiles\"") || span_find(all, "\"activeProfileIndex\""))
               ? 80
               : 0;
}
