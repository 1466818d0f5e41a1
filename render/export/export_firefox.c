/*
 * The Firefox Profiler's processed profile, version 60, which profiler.firefox.com reads
 * and brings up to its present version. The format is described in
 * https://github.com/firefox-devtools/profiler, docs-developer/ and src/types/profile.ts.
 *
 * All tables are in columns. The tree is the stack table (a node's number is one less
 * than in the tree, as the root is no stack), names are the frames, functions the
 * functions. Every series is a thread; they share these tables. Counts of bytes are
 * native allocations, for which the profiler has its own view; times are samples with a
 * weight in milliseconds, other counts samples with a weight. A sample's time is how much
 * was counted before it, as the format wants one. Threads that waited, with times, follow as
 * threads with markers (firefoxwaits.h).
 *
 * Rejected: the present version of the format. The profiler upgrades older ones, but an
 * older profiler refuses newer ones.
 */
#include <math.h>
#include <stdlib.h>

#include "common/commands.h"
#include "render/backend.h"
#include "render/export/exporttext.h"
#include "render/export/firefoxwaits.h"
#include "render/export/functable.h"
#include "render/framename.h"
#include "render/text/json.h"
#include "render/text/outstream.h"
#include "render/export/series.h"
#include "render/text/value.h"

#define VERSION 60

struct writer {
    struct outstream out;
    struct series_set set;
    struct functable ft;
    struct firefoxwaits waits;
    uint32_t nsources; /* strings that may be files */
    const struct frametree *t;
};

/* Kinds of frames, in the order of marks[]. */
static const char marks[] = "kjiwo";
static const char categories[] =
    "[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
    "{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
    "{\"name\":\"JIT\",\"color\":\"green\",\"subcategories\":[\"Other\"]},"
    "{\"name\":\"Inlined\",\"color\":\"lightblue\",\"subcategories\":[\"Other\"]},"
    "{\"name\":\"Waker\",\"color\":\"purple\",\"subcategories\":[\"Other\"]},"
    "{\"name\":\"Off-CPU\",\"color\":\"blue\",\"subcategories\":[\"Other\"]}]";

static void add_number(struct strbuf *sb, uint64_t v)
{
    folded_add_count(sb, (struct folded_count){v, 0});
}

/* Writes the value that a column has for row i. */
typedef void cell_fn(struct writer *w, uint32_t i);

static void add_column(struct writer *w, const char *name, uint32_t n, cell_fn *cell)
{
    strbuf_addf(&w->out.sb, "\"%s\":[", name);
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            strbuf_addch(&w->out.sb, ',');
        cell(w, i);
        outstream_some(&w->out);
    }
    strbuf_addstr(&w->out.sb, "],\n");
}

static void cell_null(struct writer *w, uint32_t i)
{
    (void)i;
    strbuf_addstr(&w->out.sb, "null");
}

static void cell_zero(struct writer *w, uint32_t i)
{
    (void)i;
    strbuf_addch(&w->out.sb, '0');
}

static void cell_minus_one(struct writer *w, uint32_t i)
{
    (void)i;
    strbuf_addstr(&w->out.sb, "-1");
}

static void cell_false(struct writer *w, uint32_t i)
{
    (void)i;
    strbuf_addstr(&w->out.sb, "false");
}

/* Rows of frames are names without the root's. */
static const struct functable_place *place(const struct writer *w, uint32_t i)
{
    return &w->ft.places[i + 1];
}

static void cell_frame_category(struct writer *w, uint32_t i)
{
    char mark = place(w, i)->mark;
    const char *at = mark ? strchr(marks, mark) : NULL;

    add_number(&w->out.sb, at ? (uint64_t)(at - marks) + 1 : 0);
}

static void cell_frame_inlined(struct writer *w, uint32_t i)
{
    strbuf_addch(&w->out.sb, place(w, i)->mark == 'i' ? '1' : '0');
}

static void cell_frame_func(struct writer *w, uint32_t i)
{
    add_number(&w->out.sb, place(w, i)->func - 1);
}

static void cell_frame_line(struct writer *w, uint32_t i)
{
    if (place(w, i)->line)
        add_number(&w->out.sb, place(w, i)->line);
    else
        cell_null(w, i);
}

/* Rows of functions are those of the table without the root's. */
static void cell_func_name(struct writer *w, uint32_t i)
{
    add_number(&w->out.sb, w->ft.funcs[i + 1].name);
}

/* Every string is also a source, so that most files' numbers need no table. */
static void cell_func_source(struct writer *w, uint32_t i)
{
    uint32_t file = w->ft.funcs[i + 1].file;

    if (file == FUNCTABLE_NONE)
        cell_null(w, i);
    else
        add_number(&w->out.sb, file);
}

static void cell_itself(struct writer *w, uint32_t i)
{
    add_number(&w->out.sb, i);
}

static void cell_string(struct writer *w, uint32_t i)
{
    size_t len;
    const char *s = functable_text(&w->ft, i, &len);

    json_add_string(&w->out.sb, s, len, 0);
}

/* Rows of stacks are nodes without the root, and then the stacks of wakers. */
static void cell_stack_frame(struct writer *w, uint32_t i)
{
    if (i + 1 >= w->t->n)
        add_number(&w->out.sb, w->waits.stacks[i + 1 - w->t->n].name - 1);
    else
        add_number(&w->out.sb, w->t->nodes[i + 1].name - 1);
}

static void cell_stack_prefix(struct writer *w, uint32_t i)
{
    uint32_t parent =
        i + 1 < w->t->n ? w->t->nodes[i + 1].parent : w->waits.stacks[i + 1 - w->t->n].prefix + 1;

    if (parent)
        add_number(&w->out.sb, parent - 1);
    else
        cell_null(w, i);
}

/* Rows of resources, which are libraries here: the tree's modules without the one that stands
 * for no module. Their names are the first strings. */
static void cell_func_resource(struct writer *w, uint32_t i)
{
    uint32_t module = w->ft.funcs[i + 1].module;

    if (module)
        add_number(&w->out.sb, module - 1);
    else
        cell_minus_one(w, i);
}

static void cell_library(struct writer *w, uint32_t i)
{
    (void)i;
    strbuf_addch(&w->out.sb, '1'); /* its type */
}

static uint32_t modules(const struct writer *w)
{
    return w->t->nmodules ? w->t->nmodules - 1 : 0;
}

static void end_table(struct writer *w, uint32_t n, const char *after)
{
    strbuf_addf(&w->out.sb, "\"length\":%u}%s\n", n, after);
}

static void add_shared(struct writer *w)
{
    uint32_t frames = w->t->nnames - 1, funcs = w->ft.nfuncs - 1;
    uint32_t stacks = w->t->n - 1 + (uint32_t)w->waits.nstacks;
    struct strbuf *sb = &w->out.sb;

    strbuf_addstr(sb, "\"shared\":{\n");
    add_column(w, "stringArray", w->ft.nstrings, cell_string);
    strbuf_addstr(sb, "\"sources\":{");
    add_column(w, "id", w->nsources, cell_null);
    add_column(w, "filename", w->nsources, cell_itself);
    end_table(w, w->nsources, ",");
    strbuf_addstr(sb, "\"frameTable\":{");
    add_column(w, "address", frames, cell_minus_one);
    add_column(w, "inlineDepth", frames, cell_frame_inlined);
    add_column(w, "category", frames, cell_frame_category);
    add_column(w, "subcategory", frames, cell_zero);
    add_column(w, "func", frames, cell_frame_func);
    add_column(w, "nativeSymbol", frames, cell_null);
    add_column(w, "innerWindowID", frames, cell_null);
    add_column(w, "line", frames, cell_frame_line);
    add_column(w, "column", frames, cell_null);
    end_table(w, frames, ",");
    strbuf_addstr(sb, "\"funcTable\":{");
    add_column(w, "name", funcs, cell_func_name);
    add_column(w, "isJS", funcs, cell_false);
    add_column(w, "relevantForJS", funcs, cell_false);
    add_column(w, "resource", funcs, cell_func_resource);
    add_column(w, "source", funcs, cell_func_source);
    add_column(w, "lineNumber", funcs, cell_null);
    add_column(w, "columnNumber", funcs, cell_null);
    end_table(w, funcs, ",");
    strbuf_addstr(sb, "\"resourceTable\":{");
    add_column(w, "lib", modules(w), cell_itself);
    add_column(w, "name", modules(w), cell_itself);
    add_column(w, "host", modules(w), cell_null);
    add_column(w, "type", modules(w), cell_library);
    end_table(w, modules(w), ",");
    strbuf_addstr(sb, "\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],"
                      "\"functionSize\":[],\"length\":0},\n\"stackTable\":{");
    add_column(w, "frame", stacks, cell_stack_frame);
    add_column(w, "prefix", stacks, cell_stack_prefix);
    end_table(w, stacks, "},");
}

/* Adds {name, path...} of each module, as far as it is known. */
static void add_libs(struct writer *w)
{
    struct strbuf *sb = &w->out.sb;

    strbuf_addstr(sb, "\"libs\":[");
    for (uint32_t i = 0; i < modules(w); i++) {
        static const char *const keys[] = {"name", "path", "debugName", "debugPath"};

        strbuf_addstr(sb, i ? ",\n{" : "{");
        for (size_t k = 0; k < ARRAY_LEN(keys); k++) {
            strbuf_addf(sb, "\"%s\":", keys[k]);
            cell_string(w, i);
            strbuf_addstr(sb, ",");
        }
        strbuf_addstr(sb, "\"breakpadId\":\"\",\"codeId\":null,\"arch\":\"\"}");
        outstream_some(&w->out);
    }
    strbuf_addstr(sb, "],");
}

static void add_meta(struct writer *w, const struct render_options *o)
{
    struct strbuf *sb = &w->out.sb;

    strbuf_addf(sb,
                "{\"meta\":{\"preprocessedProfileVersion\":%d,\"version\":31,\"interval\":1,"
                "\"startTime\":0,\"processType\":0,\"stackwalk\":1,\"debug\":false,",
                VERSION);
    strbuf_addstr(sb, "\"symbolicated\":true,\"symbolicationNotSupported\":true,"
                      "\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true,"
                      "\"keepProfileThreadOrder\":true,\"markerSchema\":[");
    firefoxwaits_add_schemas(&w->waits, sb);
    strbuf_addstr(sb, "],\"initialVisibleThreads\":[");
    for (uint32_t i = 0; i < w->set.n + w->waits.nthreads; i++)
        strbuf_addf(sb, "%s%u", i ? "," : "", i);
    strbuf_addstr(sb, "],\"initialSelectedThreads\":[0],\n\"categories\":");
    strbuf_addstr(sb, categories);
    strbuf_addstr(sb, ",\n\"importedFrom\":\"flame " FLAME_VERSION "\",\"product\":");
    exporttext_json_heading(sb, o);
    strbuf_addstr(sb, "},\n");
    add_libs(w);
    strbuf_addstr(sb, "\"pages\":[],\"counters\":[],\n");
}

enum what { STACK, TIME, WEIGHT };

static void add_samples(struct writer *w, uint32_t series, enum what what, double scale)
{
    struct folded_count before = {0, 0};
    const char *comma = "";

    for (uint32_t i = 0; i < w->t->n; i++) {
        struct folded_count c = series_self(&w->set, series, i);

        if (series_is_zero(c))
            continue;
        if (scale != 1)
            c = series_count(folded_count_double(c) * scale);
        strbuf_addstr(&w->out.sb, comma);
        if (what == STACK && i == 0)
            cell_null(w, i);
        else if (what == STACK)
            add_number(&w->out.sb, i - 1);
        else
            folded_add_count(&w->out.sb, what == TIME ? before : c);
        folded_count_add(&before, c);
        comma = ",";
        outstream_some(&w->out);
    }
}

static uint32_t count_samples(const struct writer *w, uint32_t series)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < w->t->n; i++)
        n += !series_is_zero(series_self(&w->set, series, i));
    return n;
}

static void add_thread(struct writer *w, uint32_t series)
{
    static const char no_samples[] =
        "\"samples\":{\"stack\":[],\"time\":[],\"weight\":null,\"weightType\":\"samples\","
        "\"length\":0},\n";
    const char *unit = w->set.s[series].unit;
    bool bytes = strcmp(unit, "bytes") == 0;
    int time = value_time_unit(unit);
    double scale = time < 0 ? 1 : pow(1000, time - 2);
    struct strbuf *sb = &w->out.sb;

    strbuf_addstr(sb, "{\"processType\":\"default\",\"processStartupTime\":0,"
                      "\"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null,"
                      "\"pausedRanges\":[],\"isMainThread\":true,\"pid\":\"1\",");
    strbuf_addf(sb, "\"tid\":%u,\"name\":", series + 1);
    exporttext_json_series(sb, &w->set, series);
    strbuf_addstr(sb, ",\n\"markers\":{\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],"
                      "\"phase\":[],\"category\":[],\"length\":0},\n");
    if (bytes)
        strbuf_addstr(sb, no_samples);
    strbuf_addf(sb, "\"%s\":{\"stack\":[", bytes ? "nativeAllocations" : "samples");
    add_samples(w, series, STACK, scale);
    strbuf_addstr(sb, "],\n\"time\":[");
    add_samples(w, series, TIME, scale);
    strbuf_addstr(sb, "],\n\"weight\":[");
    add_samples(w, series, WEIGHT, scale);
    strbuf_addf(sb, "],\n\"weightType\":\"%s\",",
                bytes       ? "bytes"
                : time >= 0 ? "tracing-ms"
                            : "samples");
    end_table(w, count_samples(w, series), "}");
}

static int firefox_write(FILE *file, const struct frametree *t, const struct render_options *o)
{
    struct writer w = {.out = OUTSTREAM_INIT(file), .t = t};

    series_init(&w.set, t, o, SERIES_BOTH_SIDES);
    functable_init(&w.ft);
    for (uint32_t i = 1; i < t->nmodules; i++) {
        struct strbuf clean = STRBUF_INIT;

        framename_add_clean(&clean, t->modules[i].s, t->modules[i].len);
        functable_string(&w.ft, clean.buf, clean.len);
        strbuf_release(&clean);
    }
    functable_fill(&w.ft, t, marks);
    w.nsources = w.ft.nstrings;
    firefoxwaits_init(&w.waits, t, o, &w.ft);
    add_meta(&w, o);
    add_shared(&w);
    strbuf_addstr(&w.out.sb, "\"threads\":[\n");
    for (uint32_t i = 0; i < w.set.n; i++) {
        if (i)
            strbuf_addstr(&w.out.sb, ",\n");
        add_thread(&w, i);
    }
    firefoxwaits_add_threads(&w.waits, &w.out);
    strbuf_addstr(&w.out.sb, "]}\n");
    firefoxwaits_release(&w.waits);
    functable_release(&w.ft);
    series_release(&w.set);
    return outstream_end(&w.out);
}

const struct render_backend export_firefox = {
    .name = "firefox",
    .endings = "firefox.json",
    .what = "Firefox Profiler's processed profile in JSON",
    .all_views = true,
    .lines = true,
    .modules = true,
    .waits = true,
    .write = firefox_write,
};
