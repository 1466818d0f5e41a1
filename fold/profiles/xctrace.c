/*
 * Xcode's Instruments, as `xctrace export --xpath '//table[@schema="time-profile"]'` writes its
 * table of samples in XML (xctrace(1)). The first use of a value has it under a number, and later
 * ones refer to that:
 *
 *     <row> ... <weight id="9" fmt="1.00 ms">1000000</weight>
 *       <backtrace id="10"> <frame id="11" name="main" addr="0x102af5fa1">
 *         <binary id="12" name="app" path="/usr/local/bin/app"/>
 *         <source line="7"><path id="23">/src/main.rs</path></source> </frame> ...
 *     <row> ... <weight ref="9"/> <backtrace> <frame ref="11"/> </backtrace> </row>
 *
 * Each row is a sample, leaf first; its weight is nanoseconds, of which microseconds count, as of
 * other profiles of time. A tagged-backtrace is another name of the backtrace in it.
 */
#include <stdlib.h>
#include <uthash.h>

#include "common/alloc.h"
#include "fold/stacks/decimal.h"
#include "fold/collapse/located.h"
#include "fold/collapse/readers.h"
#include "fold/decode/xmlread.h"

enum element { FRAME, BINARY, SOURCE_PATH, WEIGHT, BACKTRACE, TAGGED, ROW, SOURCE, OTHER };

/* A value, which an id refers to. */
struct value {
    UT_hash_handle hh;
    uint64_t id; /* 0: it has none */
    enum element what;
    uint32_t name;   /* FRAME */
    size_t first, n; /* BACKTRACE: its frames in `pool`; BINARY, SOURCE_PATH: bytes in `texts` */
    struct stackset_count weight; /* WEIGHT */
};

struct xctrace {
    struct collapse *c;
    struct strbuf text; /* all of it */
    struct xml x;
    struct value *known;
    uint32_t *pool; /* ids of names */
    size_t npool, pool_alloc;
    struct strbuf texts, attribute, frame_name;
    bool samples;
    uint64_t frames; /* of all samples so far */
    /* The values that are being read. */
    struct value stack, backtrace, tagged, frame, weight, binary, path;
    uint64_t line;
    bool in_frame, has_stack;
};

static enum element element_of(struct span name)
{
    static const char *const names[OTHER] = {"frame",     "binary",           "path", "weight",
                                             "backtrace", "tagged-backtrace", "row",  "source"};
    enum element e = FRAME;

    while (e < OTHER && !span_is(name, names[e]))
        e++;
    return e;
}

static bool number_attribute(struct xctrace *t, const char *name, uint64_t *out)
{
    struct stackset_count n;

    *out = 0;
    if (!xml_attribute(&t->x, name, &t->attribute) ||
        !stackset_count_parse(t->attribute.buf, t->attribute.len, &n))
        return false;
    *out = n.whole;
    return true;
}

/* Remembers a value under its id; the first with an id stays. */
static void remember(struct xctrace *t, const struct value *v)
{
    struct value *known;

    if (v->id == 0)
        return;
    HASH_FIND(hh, t->known, &v->id, sizeof v->id, known);
    if (known)
        return;
    known = xmalloc(sizeof *known);
    *known = *v;
    HASH_ADD(hh, t->known, id, sizeof known->id, known);
}

/* The value that an element refers to; false when it does not, or to nothing of its kind. */
static bool referred(struct xctrace *t, enum element what, struct value *out)
{
    struct value *known;
    uint64_t id;

    if (!number_attribute(t, "ref", &id))
        return false;
    HASH_FIND(hh, t->known, &id, sizeof id, known);
    if (!known || known->what != what) {
        collapse_damaged_text(t->c, t->text.buf, t->x.s,
                              "an element refers to id %llu, which is none of its kind",
                              (unsigned long long)id);
        return false;
    }
    *out = *known;
    return true;
}

static struct span text_of(const struct xctrace *t, const struct value *v)
{
    return (struct span){t->texts.buf + v->first, v->n};
}

static void add_frame(struct xctrace *t, uint32_t name)
{
    GROW(t->pool, t->npool, t->pool_alloc);
    t->pool[t->npool++] = name;
}

/* ---- elements begin ---- */

static struct value begun(struct xctrace *t, enum element what)
{
    struct value v = {.what = what};

    number_attribute(t, "id", &v.id);
    return v;
}

static void open_frame(struct xctrace *t)
{
    if (referred(t, FRAME, &t->frame)) {
        add_frame(t, t->frame.name);
        return;
    }
    t->frame = begun(t, FRAME);
    t->binary = t->path = (struct value){.id = 0};
    t->line = 0;
    t->in_frame = true;
    if (!xml_attribute(&t->x, "name", &t->frame_name) || t->frame_name.len == 0)
        xml_attribute(&t->x, "addr", &t->frame_name);
}

static void open_binary(struct xctrace *t)
{
    if (!t->in_frame || referred(t, BINARY, &t->binary))
        return;
    t->binary = begun(t, BINARY);
    if (!xml_attribute(&t->x, "path", &t->attribute) || t->attribute.len == 0)
        xml_attribute(&t->x, "name", &t->attribute);
    t->binary.first = t->texts.len;
    t->binary.n = t->attribute.len;
    strbuf_add(&t->texts, t->attribute.buf, t->attribute.len);
    remember(t, &t->binary);
}

static void open_backtrace(struct xctrace *t)
{
    t->has_stack = true;
    if (referred(t, BACKTRACE, &t->stack))
        return;
    t->backtrace = begun(t, BACKTRACE);
    t->backtrace.first = t->npool;
}

static void opened(struct xctrace *t)
{
    switch (element_of(t->x.name)) {
    case ROW:
        t->stack = t->tagged = t->weight = (struct value){.id = 0};
        t->has_stack = t->in_frame = false;
        break;
    case FRAME:
        open_frame(t);
        break;
    case BINARY:
        open_binary(t);
        break;
    case SOURCE:
        number_attribute(t, "line", &t->line);
        break;
    case SOURCE_PATH:
        if (!referred(t, SOURCE_PATH, &t->path)) {
            t->path = begun(t, SOURCE_PATH);
            t->path.first = t->texts.len;
        }
        break;
    case WEIGHT:
        if (!referred(t, WEIGHT, &t->weight))
            t->weight = begun(t, WEIGHT);
        break;
    case BACKTRACE:
        open_backtrace(t);
        break;
    case TAGGED:
        t->has_stack |= referred(t, TAGGED, &t->stack);
        t->tagged = begun(t, TAGGED);
        break;
    case OTHER:
        break;
    }
}

/* ---- they end ---- */

static void close_frame(struct xctrace *t)
{
    struct located l = {.name = {t->frame_name.buf, t->frame_name.len}, .line = t->line};

    if (!t->in_frame)
        return;
    t->in_frame = false;
    l.module = text_of(t, &t->binary);
    l.file = text_of(t, &t->path);
    t->frame.name = collapse_located(t->c, &l);
    add_frame(t, t->frame.name);
    remember(t, &t->frame);
}

/* Takes a backtrace that was not a reference as the row's. */
static void close_backtrace(struct xctrace *t)
{
    if (t->backtrace.what != BACKTRACE)
        return;
    t->backtrace.n = t->npool - t->backtrace.first;
    remember(t, &t->backtrace);
    t->stack = t->backtrace;
    t->backtrace = (struct value){.what = OTHER};
}

static void close_tagged(struct xctrace *t)
{
    t->tagged.first = t->stack.first;
    t->tagged.n = t->stack.n;
    remember(t, &t->tagged);
}

static void close_row(struct xctrace *t)
{
    static const struct stackset_count one = {1, 0};
    const struct stackset_count *count = t->samples ? &one : &t->weight.weight;

    t->frames += t->stack.n;
    if (t->frames > collapse_frames_most(t->text.len)) {
        collapse_damaged_text(t->c, t->text.buf, t->x.s, COLLAPSE_FRAMES_TOO_MANY);
        return;
    }
    if (!t->has_stack || t->stack.n == 0 || (count->whole == 0 && count->part == 0))
        return;
    for (size_t i = 0; i < t->stack.n; i++)
        collapse_push_id(t->c, t->pool[t->stack.first + i]);
    collapse_flush(t->c, LEAF_FIRST, count);
}

static void closed(struct xctrace *t)
{
    switch (element_of(t->x.name)) {
    case ROW:
        close_row(t);
        break;
    case FRAME:
        close_frame(t);
        break;
    case SOURCE_PATH:
        remember(t, &t->path);
        break;
    case WEIGHT:
        remember(t, &t->weight);
        break;
    case BACKTRACE:
        close_backtrace(t);
        break;
    case TAGGED:
        close_tagged(t);
        break;
    default:
        break;
    }
}

/* Nanoseconds, or a path. */
static void read_text(struct xctrace *t)
{
    struct span text = {t->x.value.buf, t->x.value.len};
    enum element e = t->x.depth ? element_of(t->x.open[t->x.depth - 1]) : OTHER;
    decimal ns;

    if (e == SOURCE_PATH && t->path.first + t->path.n == t->texts.len) {
        strbuf_add(&t->texts, text.s, text.len);
        t->path.n += text.len;
    } else if (e == WEIGHT && decimal_parse(span_trim(text), &ns) && ns >= 0 &&
               decimal_scale(&ns, -1000)) {
        t->weight.weight = decimal_count(ns);
    }
}

static void read_all(struct xctrace *t)
{
    enum xml_event event;

    xml_init(&t->x, t->text.buf, t->text.len);
    while (!t->c->in.error && (event = xml_next(&t->x)) != XML_END) {
        if (event == XML_OPEN)
            opened(t);
        else if (event == XML_CLOSE)
            closed(t);
        else
            read_text(t);
    }
    if (t->x.wrong)
        collapse_damaged_text(t->c, t->text.buf, t->x.s, "%s", t->x.wrong);
    xml_release(&t->x);
}

void collapse_xctrace_run(struct collapse *c)
{
    const struct span types[] = {span_of("time"), span_of("samples")};
    struct xctrace t = {.c = c,
                        .text = STRBUF_INIT,
                        .texts = STRBUF_INIT,
                        .attribute = STRBUF_INIT,
                        .frame_name = STRBUF_INIT,
                        .backtrace.what = OTHER};
    struct value *v, *next;

    t.samples = collapse_pick_type(c, types, c->opt->type ? 2 : 1, 0) == 1;
    if (!c->in.error && textinput_all(&c->in, &t.text) && t.text.len > 0)
        read_all(&t);
    collapse_drop(c);
    HASH_ITER (hh, t.known, v, next) {
        HASH_DEL(t.known, v);
        free(v);
    }
    free(t.pool);
    strbuf_release(&t.text);
    strbuf_release(&t.texts);
    strbuf_release(&t.attribute);
    strbuf_release(&t.frame_name);
}

int collapse_xctrace_probe(const char *text, size_t len)
{
    struct span all = {text, len};

    return span_find(all, "<trace-query-result") && span_find(all, "time-profile") ? 97 : 0;
}
