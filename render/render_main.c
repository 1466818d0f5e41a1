#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/commands.h"
#include "common/env/openpage.h"
#include "common/error.h"
#include "common/options/values.h"
#include "common/files/outfile.h"
#include "fold/viewtable.h"
#include "render/backend.h"
#include "render/input.h"
#include "render/palette.h"
#include "render/rendercolumns.h"
#include "render/text/value.h"
#include "render/wrappers.h"

struct request {
    struct render_options o;
    const struct render_backend *backend;
    const char *format, *view;
    const char *output;
    const char *map_path, *attr_path; /* of --cp and --nameattr, or NULL */
    const char *encoding;
    double total;
    bool series;
    struct filter filter;
    struct wrappers_options wrappers;
    struct input_of_traces of_traces;
    char *title; /* made for this picture, or NULL */
    char *const *inputs;
    size_t ninputs;
    bool open; /* show the picture in a browser */
};

static void add_formats(struct strbuf *sb)
{
    for (size_t i = 0; render_backends[i]; i++)
        strbuf_addf(sb, "%s%s", i ? " " : "", render_backends[i]->name);
}

static void add_help(struct strbuf *sb)
{
    strbuf_addstr(sb, "\nPalettes: ");
    palette_add_names(sb);
    strbuf_addstr(sb, "\nFormats:\n");
    for (size_t i = 0; render_backends[i]; i++)
        strbuf_addf(sb, "  %-10s %s\n", render_backends[i]->name, render_backends[i]->what);
}

static int take_minwidth(void *at, const struct opts_row *row, const struct opts_given *given)
{
    struct render_options *o = at;
    char *end;
    double v = strtod(given->value, &end);
    bool percent = strcmp(end, "%") == 0;

    (void)row;
    if (end == given->value || !isfinite(v) || v < 0 || v > (percent ? 100 : 1e6) ||
        (*end && !percent && strcmp(end, "px") != 0))
        return opts_wrong_value(given, "pixels (0.1) or percent (0.5%%)");
    o->minwidth = v;
    o->minwidth_percent = percent;
    return 0;
}

static int take_width(void *at, const struct opts_row *row, const struct opts_given *given)
{
    struct render_options *o = at;

    o->fluid = false;
    return opts_take_pixels(&o->width, row, given);
}

/* The names and their colours are flamegraph.pl's. */
static int take_background(void *at, const struct opts_row *row, const struct opts_given *given)
{
    static const struct {
        const char *name;
        struct rgb colors[2];
    } known[] = {
        {"yellow", {{0xee, 0xee, 0xee}, {0xee, 0xee, 0xb0}}},
        {"blue", {{0xee, 0xee, 0xee}, {0xe0, 0xe0, 0xff}}},
        {"green", {{0xee, 0xf2, 0xee}, {0xe0, 0xff, 0xe0}}},
        {"grey", {{0xf8, 0xf8, 0xf8}, {0xe8, 0xe8, 0xe8}}},
    };
    struct render_options *o = at;
    const char *s = given->value;
    unsigned v = 0;
    int used = 0;

    (void)row;
    o->own_background = true;
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (strcmp(s, known[i].name) == 0) {
            memcpy(o->background, known[i].colors, sizeof o->background);
            return 0;
        }
    if (strlen(s) == 7 && sscanf(s, "#%6x%n", &v, &used) == 1 && used == 7) {
        o->background[0] = o->background[1] =
            (struct rgb){(uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v};
        return 0;
    }
    return opts_wrong_value(given, "yellow, blue, green, grey or #rrggbb");
}

static int take_widths(void *at, const struct opts_row *row, const struct opts_given *given)
{
    (void)row;
    return difference_find_widths(given->value, at)
               ? 0
               : opts_wrong_value(given, "after, before, either or elided");
}

static int take_change(void *at, const struct opts_row *row, const struct opts_given *given)
{
    (void)row;
    return difference_find_colors(given->value, at)
               ? 0
               : opts_wrong_value(given, "absolute, relative or ratio");
}

static int take_colormap(void *at, const struct opts_row *row, const struct opts_given *given)
{
    (void)row;
    *(const char **)at = given->value ? given->value : "palette.map";
    return 0;
}

#define AT(member) offsetof(struct request, member)
#define FLAG opts_take_true
#define TEXT opts_take_text

static const struct opts_row rows[] = {
    {"output", 'o', "FILE", "write to FILE (default: standard output)", .take = TEXT,
     .at = AT(output)},
    {"format", 'f', "NAME", "one of those below (default: by FILE's ending, else svg)",
     .take = opts_take_choice, .at = AT(format), .add_words = add_formats},
    {"open", 0, NULL, "show it in the browser, a page in flame.html unless -o or -f says otherwise",
     .take = FLAG, .at = AT(open)},
    {"view", 'v', "VIEW",
     "of a trace, as for 'flame fold' (default: alloc or off, and all for formats that can hold "
     "them)",
     .take = opts_take_choice, .at = AT(view), .add_words = view_words},
    {"title", 0, "TEXT", "(default: by view, else 'Flame Graph')", .take = TEXT, .at = AT(o.title)},
    {"subtitle", 0, "TEXT", "a second line under the title", .take = TEXT, .at = AT(o.subtitle)},
    {"width", 0, "PX", "(default: 1200, and the page follows the window's width)",
     .take = take_width, .at = AT(o), 100, 100000},
    {"scale", 0, "N", "of a png: N dots a pixel (default: 1)", .take = opts_take_double,
     .at = AT(o.scale), 0.1, 10},
    {"height", 0, "PX", "of one frame (default: 16)", .take = opts_take_pixels,
     .at = AT(o.frame_height), 4, 1000},
    {"minwidth", 0, "W", "leave out frames narrower than W pixels, or W% of all (default: 0.1)",
     .take = take_minwidth, .at = AT(o)},
    {"countname", 0, "NAME", "unit of the counts (default: by view, else 'samples')", .take = TEXT,
     .at = AT(o.countname)},
    {"nametype", 0, "TEXT", "what a frame is called (default: 'Function:')", .take = TEXT,
     .at = AT(o.nametype)},
    {"colors", 0, "NAME", "palette (default: by view, else hot)", .take = opts_take_word,
     .at = AT(o.palette), .add_words = palette_add_names},
    {"hash", 0, NULL, "names that begin alike get colours that are alike", .take = FLAG,
     .at = AT(o.hash)},
    {"random", 0, NULL, "each frame has a shade of its own", .take = FLAG, .at = AT(o.random)},
    {"cp", 0, "[FILE]",
     "names keep the colours that FILE (default: palette.map) has, and new ones are added to it",
     .take = take_colormap, .at = AT(map_path)},
    {"negate", 0, NULL, "differences: blue for growth", .take = FLAG, .at = AT(o.negate)},
    {"widths", 0, "W",
     "of a comparison: after (default), before, either, or elided, which shows what is gone at "
     "the right",
     .take = take_widths, .at = AT(o.widths), .words = "after before either elided"},
    {"change", 0, "C",
     "its colours: absolute (default), relative to each frame, or ratio of the second count to "
     "the first",
     .take = take_change, .at = AT(o.change), .words = "absolute relative ratio"},
    {"carry", 0, NULL, "its colours and signs count what a frame calls, too", .take = FLAG,
     .at = AT(o.carry)},
    {"bgcolors", 0, "C", "background: yellow, blue, green, grey or #rrggbb",
     .take = take_background, .at = AT(o)},
    {"reverse", 0, NULL, "merge stacks from the leaf: who calls this?", .take = FLAG,
     .at = AT(o.reverse)},
    {"inverted", 0, NULL, "root at the top", .take = FLAG, .at = AT(o.inverted)},
    {"flamechart", 0, NULL, "in the order of the input: lines are moments", .take = FLAG,
     .at = AT(o.ordered)},
    {"series", 0, NULL, "each FILE is a moment, in order: the page chooses among them",
     .take = FLAG, .at = AT(series)},
    {"fonttype", 0, "FONT", "(default: Verdana)", .take = TEXT, .at = AT(o.fonttype)},
    {"fontsize", 0, "PX", "(default: 12)", .take = opts_take_pixels, .at = AT(o.fontsize), 4, 100},
    {"fontwidth", 0, "W", "of a character, in font sizes (default: the font's own)",
     .take = opts_take_double, .at = AT(o.fontwidth), 0.01, 10},
    {"total", 0, "N", "what 100% is, if more than the counts add up to", .take = opts_take_double,
     .at = AT(total), 0, 1.8e19},
    {"factor", 0, "N", "multiply shown counts by N (default: 1)", .take = opts_take_double,
     .at = AT(o.factor), 1e-18, 1e18},
    {"no-findings", 0, NULL, "of an svg or html: without sentences that say what there is to see",
     .take = FLAG, .at = AT(o.no_findings)},
    {"notes", 0, "TEXT", "a comment in the file", .take = TEXT, .at = AT(o.notes)},
    {"encoding", 0, "ENC", "of the names in the input (default: UTF-8)", .take = TEXT,
     .at = AT(encoding)},
    {"no-legend", 0, NULL, "no line of the total and of what the colours mean", .take = FLAG,
     .at = AT(o.no_legend)},
    {"nameattr", 0, "FILE", "attributes for frames: name<TAB>attribute=value...", .take = TEXT,
     .at = AT(attr_path)},
    {0},
};

const struct opts_command render_command = {
    .name = "render",
    .summary = "draw folded stacks or a trace as a flame graph",
    .usage = "[OPTION...] [FILE...]",
    .about = "Draws folded stacks, or traces, as one flame graph, or writes them for another\n"
             "viewer. Without FILE, or with '-', it reads standard input.",
    .tables = {{rows, 0},
               {input_trace_rows, AT(of_traces)},
               {age_rows, AT(of_traces.ages)},
               {fold_when_rows, AT(of_traces.when)},
               {filter_rows, AT(filter)},
               {wrappers_rows, AT(wrappers)}},
    .add_help = add_help,
};

static bool ends_in_json(const char *path)
{
    size_t len = strlen(path);

    return len > 5 && strcmp(path + len - 5, ".json") == 0;
}

static int unknown_ending(const char *output)
{
    struct strbuf endings = STRBUF_INIT;

    backend_add_endings(&endings);
    flame_error(FLAME_USAGE,
                "render: -o %s: its suffix names no format; end it in %s, or say the "
                "format with -f",
                output, endings.buf);
    strbuf_release(&endings);
    return FLAME_USAGE;
}

/* The file for --open without -o. A browser needs a file that stays, and a sandboxed browser may
 * not read one in TMPDIR. */
static const char *name_opened(const char *format)
{
    return !format || strcmp(format, "html") == 0 ? "flame.html"
           : strcmp(format, "svg") == 0           ? "flame.svg"
           : strcmp(format, "png") == 0           ? "flame.png"
                                                  : NULL;
}

/* Settles the file of --open. It needs a name, and a format that browsers show. */
static int settle_open(struct request *q)
{
    if (q->output && (strcmp(q->output, "-") == 0 || !q->backend->is_browsed))
        return flame_error(FLAME_USAGE,
                           "render: --open: a browser does not show %s; end it in .html, .svg or "
                           ".png",
                           strcmp(q->output, "-") == 0 ? "standard output" : q->output);
    if (!q->backend->is_browsed)
        return flame_error(FLAME_USAGE,
                           "render: --open: a browser does not show %s; take -f html, svg or png",
                           q->backend->name);
    return 0;
}

static int find_backend(struct request *q)
{
    if (q->open && !q->output)
        q->output = name_opened(q->format);
    if (!q->format && q->output && ends_in_json(q->output) && !backend_for_file(q->output))
        return flame_error(FLAME_USAGE,
                           "render: -o %s: several formats are JSON; say which one with -f, or end "
                           "it in .speedscope.json, .d3.json, .grafana.json, .firefox.json or "
                           ".trace.json",
                           q->output);
    if (q->format)
        q->backend = backend_find(q->format);
    else if (!q->output || !(q->backend = backend_for_file(q->output)))
        q->backend = render_backends[0];
    if (!q->format && q->output && outfile_ending(q->output) && !backend_for_file(q->output))
        return unknown_ending(q->output);
    return q->open ? settle_open(q) : 0;
}

/* Fills in options that were not given: from the view, else with flamegraph.pl's defaults. */
static void fill_in(struct request *q, const struct input *in)
{
    const struct view *v = view_of_text(in->view);
    struct render_options *o = &q->o;

    q->title = o->title ? NULL : input_title(in);
    if (!o->title)
        o->title = q->title      ? q->title
                   : v           ? v->title
                   : o->ordered  ? "Flame Chart"
                   : o->inverted ? "Icicle Graph"
                                 : "Flame Graph";
    if (!o->countname)
        o->countname = in->unit ? in->unit : v ? v->unit : "samples";
    if (o->palette < 0)
        o->palette = palette_find(v                                    ? v->palette
                                  : strcmp(o->countname, "bytes") == 0 ? "mem"
                                                                       : "hot");
}

/* A notice for a comparison of which one side is empty, else NULL. */
static const char *empty_side(const struct input *in, enum difference_widths w)
{
    if (in->empty || !in->tree.delta || folded_count_double(frametree_total(&in->tree, 0)) > 0)
        return NULL;
    return w == DIFFERENCE_BEFORE
               ? "every first count is 0; --widths either has room for the others"
               : "every second count is 0; --widths either has room for the others";
}

/* Adds to the subtitle that the picture is of estimates, of a part, or of nothing. Returns a
 * string to free afterwards. */
static char *complete_subtitle(struct render_options *o, const struct input *in, const char *empty)
{
    static const char dash[] = " \xe2\x80\x94 ";
    struct strbuf sb = STRBUF_INIT, part = STRBUF_INIT;
    char *end;
    uint64_t period = in->sample ? strtoull(in->sample, &end, 10) : 0;

    strbuf_addstr(&sb, o->subtitle);
    if (period && !*end) {
        o->sample = period;
        strbuf_addf(&sb, "%sestimates: sampled every ", sb.len ? dash : "");
        if (!value_add_human(&sb, (struct folded_count){.whole = period}, "bytes"))
            strbuf_addf(&sb, "%s bytes", in->sample);
    }
    if (input_say_left_out(in, &part))
        strbuf_addf(&sb, "%s%s", sb.len ? dash : "", part.buf);
    if (empty)
        strbuf_addf(&sb, "%s%s", sb.len ? dash : "", empty);
    strbuf_release(&part);
    o->subtitle = strbuf_detach(&sb, NULL);
    return (char *)o->subtitle;
}

/* Whether the view has the stacks of sleepers, and these alone, as waits in time order have them.
 */
static bool is_of_sleepers(const char *view)
{
    const struct view *v = view ? view_find(view) : NULL;

    return !v || (v->shape == VIEW_STACK && v->recorder == TRACE_RECORDER_OFF);
}

/* The view to read. If there is nothing else, wakers are in any view. */
static const char *view_of(const struct request *q)
{
    return q->backend->needs_waits && !is_of_sleepers(q->view) ? NULL : q->view;
}

/* Whether threads' waits are read for a format that is not a page. */
static bool wants_waits(const struct request *q)
{
    return q->backend->waits && !q->o.ordered && is_of_sleepers(view_of(q));
}

static int refuse_without_waits(const struct request *q)
{
    const char *name = q->ninputs ? q->inputs[0] : "-";

    return flame_error(FLAME_USAGE,
                       "render: %s: it does not say when threads waited, and %s has nothing else; "
                       "record with 'flame off', without --lanes off, and take the whole recording",
                       strcmp(name, "-") == 0 ? "standard input" : name, q->backend->name);
}

static int draw(struct request *q)
{
    struct render_column *columns;
    struct outfile out;
    struct input in;
    const char *side = NULL;
    char *subtitle;
    bool waits = wants_waits(q);
    struct input_options options = {
        .of_traces = &q->of_traces,
        .view = view_of(q),
        .reverse = q->o.reverse != q->backend->from_leaf && !q->backend->explores,
        .keep_order = q->o.ordered,
        .encoding = q->encoding,
        .columns = q->backend->all_views || waits,
        .memory_has_one = !q->backend->all_views,
        .lines = q->backend->lines,
        .modules = q->backend->modules,
        .series = q->series,
        .moments = q->backend->explores && !q->o.ordered,
        .waits = waits,
        .first_side = true,
        .filter = &q->filter,
        .command = "render",
    };
    int err, status = input_read(&in, q->inputs, q->ninputs, &options);

    if (!status && q->backend->needs_waits && !lanes_any(&in.lanes)) {
        status = refuse_without_waits(q);
        input_release(&in);
    }
    if (status)
        return status;
    fill_in(q, &in);
    q->o.command = q->o.subtitle;
    if (in.tree.delta && !q->backend->explores) {
        difference_apply(&in.tree, q->o.widths);
        side = empty_side(&in, q->o.widths);
        if (side)
            flame_warn("%s", side);
    }
    subtitle = complete_subtitle(&q->o, &in, side ? side : in.empty);
    columns = rendercolumns_of(&in, q->o.countname);
    q->o.columns = columns;
    q->o.ncolumns = in.ncolumns;
    q->o.view = q->view;
    q->o.timeline = &in.timeline;
    q->o.lanes = &in.lanes;
    if (q->total > 0)
        input_set_total(&in, q->total);
    if (!in.tree.delta && (q->o.widths || q->o.change || q->o.carry))
        flame_warn("the input is not a comparison (two counts a line): --widths, --change and "
                   "--carry are left aside");
    err = outfile_open(&out, q->output);
    if (err) {
        status = flame_cannot_write(q->output, err);
    } else {
        err = q->backend->write(out.f, &in.tree, &q->o);
        if (err)
            outfile_abort(&out);
        else
            err = outfile_commit(&out);
        if (err)
            status = flame_cannot_write(q->output, err);
    }
    free(columns);
    input_release(&in);
    free(subtitle);
    free(q->title);
    return status;
}

/* Reads the files of colours and attributes, draws, and writes the colours back. Their file is
 * begun before the picture is, as one without the other would be only half of the result. */
static int draw_with_files(struct request *q)
{
    struct nameattrs *attrs = NULL;
    struct outfile map = {0};
    int err = 0, status = 0;

    if (q->attr_path)
        status = nameattrs_read(&attrs, q->attr_path);
    q->o.nameattr = attrs;
    if (!status && q->map_path) {
        q->o.colormap = colormap_new();
        err = colormap_read(q->o.colormap, q->map_path);
        if (err)
            status = flame_cannot_read(q->map_path, err);
        else if ((err = outfile_open(&map, q->map_path)))
            status = flame_cannot_write(q->map_path, err);
    }
    if (!status)
        status = draw(q);
    if (!status && q->map_path) {
        err = colormap_write(q->o.colormap, &map);
        if (err)
            status = flame_cannot_write(q->map_path, err);
    }
    outfile_abort(&map);
    colormap_free(q->o.colormap);
    nameattrs_free(attrs);
    return status;
}

int render_main(int argc, char **argv)
{
    struct request q = {
        .o =
            {
                .subtitle = "",
                .palette = -1,
                .nametype = "Function:",
                .notes = "",
                .factor = 1,
                .scale = 1,
                .width = 1200,
                .fluid = true,
                .frame_height = 16,
                .minwidth = 0.1,
                .fonttype = "Verdana",
                .fontsize = 12,
            },
        .filter = FILTER_INIT,
    };
    int first, status = opts_parse(&render_command, &q, argc, argv, &first);

    q.o.wrappers = &q.wrappers;
    q.inputs = argv + first;
    q.ninputs = (size_t)(argc - first);
    /* Merging the tree from the leaf costs nothing, and the page can show both. */
    q.o.reverse |= q.filter.from_caller;
    q.filter.from_caller = false;
    if (status < 0 && !(status = find_backend(&q)))
        status = draw_with_files(&q);
    if (!status && q.open)
        openpage(q.output);
    filter_release(&q.filter);
    wrappers_release(&q.wrappers);
    input_of_traces_release(&q.of_traces);
    return status;
}
