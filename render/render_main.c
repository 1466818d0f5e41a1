#include <getopt.h>
#include <math.h>
#include <stdlib.h>

#include "common/commands.h"
#include "common/error.h"
#include "common/opts.h"
#include "common/outfile.h"
#include "render/backend.h"
#include "render/input.h"
#include "render/palette.h"
#include "render/value.h"
#include "render/views.h"

struct request {
    struct render_options o;
    const struct render_backend *backend;
    const char *format, *colors, *view;
    const char *output;
    const char *map_path, *attr_path; /* of --cp and --nameattr, or NULL */
    const char *encoding;
    double total;
    bool series;
    struct filter filter;
    char *const *inputs;
    size_t ninputs;
};

static void help(void)
{
    struct strbuf names = STRBUF_INIT;

    palette_add_names(&names);
    printf("usage: flame render [OPTION...] [FILE...]\n"
           "\n"
           "Draws folded stacks, or traces, as one flame graph, or writes them for another\n"
           "viewer. Without FILE, or with '-', it reads standard input.\n"
           "\n"
           "  -o, --output FILE    write to FILE (default: standard output)\n"
           "  -f, --format NAME    one of those below (default: by FILE's ending, else svg)\n"
           "      --view VIEW      of a trace, as for 'flame fold' (default: alloc or off, and\n"
           "                       all for formats that can hold them)\n"
           "      --title TEXT     (default: by view, else 'Flame Graph')\n"
           "      --subtitle TEXT  a second line under the title\n"
           "      --width PX       (default: 1200, and the page follows the window's width)\n"
           "      --scale N        of a png: N dots a pixel (default: 1)\n"
           "      --height PX      of one frame (default: 16)\n"
           "      --minwidth W     leave out frames narrower than W pixels, or W%% of all\n"
           "                       (default: 0.1)\n"
           "      --countname NAME unit of the counts (default: by view, else 'samples')\n"
           "      --nametype TEXT  what a frame is called (default: 'Function:')\n"
           "      --colors NAME    palette (default: by view, else hot)\n"
           "      --hash           names that begin alike get colours that are alike\n"
           "      --random         each frame has a shade of its own\n"
           "      --cp[=FILE]      names keep the colours that FILE (default: palette.map) has,\n"
           "                       and new ones are added to it\n"
           "      --negate         differences: blue for growth\n"
           "      --widths W       of a comparison: after (default), before, either, or elided,\n"
           "                       which shows what is gone at the right\n"
           "      --change C       its colours: absolute (default), relative to each frame, or\n"
           "                       ratio of the second count to the first\n"
           "      --carry          its colours and signs count what a frame calls, too\n"
           "      --bgcolors C     background: yellow, blue, green, grey or #rrggbb\n"
           "      --reverse        merge stacks from the leaf: who calls this?\n"
           "      --inverted       root at the top\n"
           "      --flamechart     in the order of the input: lines are moments\n"
           "      --series         each FILE is a moment, in order: the page chooses among them\n"
           "      --fonttype FONT  (default: Verdana)\n"
           "      --fontsize PX    (default: 12)\n"
           "      --fontwidth W    of a character, in font sizes (default: the font's own)\n"
           "      --total N        what 100%% is, if more than the counts add up to\n"
           "      --factor N       multiply shown counts by N (default: 1)\n"
           "      --notes TEXT     a comment in the file\n"
           "      --encoding ENC   of the names in the input (default: UTF-8)\n"
           "      --nameattr FILE  attributes for frames: name<TAB>attribute=value...\n"
           "      --help           this text\n"
           "\n" FILTER_HELP "\n"
           "Palettes: %s\n"
           "Formats:\n",
           names.buf);
    for (size_t i = 0; render_backends[i]; i++)
        printf("  %-10s %s\n", render_backends[i]->name, render_backends[i]->what);
    strbuf_release(&names);
}

/* A number in [min, max]; `end` gets what stands behind it. */
static bool number(const char *s, double min, double max, double *value, const char **end)
{
    char *rest;
    double v = strtod(s, &rest);

    *end = rest;
    if (rest == s || !isfinite(v) || v < min || v > max)
        return false;
    *value = v;
    return true;
}

static int pixels(const char *option, const char *s, double min, double max, double *value)
{
    const char *end;

    if (number(s, min, max, value, &end) && (*end == '\0' || strcmp(end, "px") == 0))
        return 0;
    return flame_error(FLAME_USAGE, "render: --%s %s: expected pixels from %g to %g", option, s,
                       min, max);
}

static int minwidth(struct render_options *o, const char *s)
{
    const char *end;

    if (number(s, 0, 1e6, &o->minwidth, &end)) {
        o->minwidth_percent = strcmp(end, "%") == 0;
        if (*end == '\0' || strcmp(end, "px") == 0 || (o->minwidth_percent && o->minwidth <= 100))
            return 0;
    }
    return flame_error(FLAME_USAGE,
                       "render: --minwidth %s: expected pixels (0.1) or percent (0.5%%)", s);
}

static int plain_number(const char *option, const char *s, double min, double max, double *value)
{
    const char *end;

    if (number(s, min, max, value, &end) && *end == '\0')
        return 0;
    return flame_error(FLAME_USAGE, "render: --%s %s: expected a number from %g to %g", option, s,
                       min, max);
}

/* The names and their colours are flamegraph.pl's. */
static int background(struct render_options *o, const char *s)
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
    unsigned v = 0;
    int used = 0;

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
    return flame_error(FLAME_USAGE,
                       "render: --bgcolors %s: expected yellow, blue, green, grey or #rrggbb", s);
}

enum {
    OPT_VIEW = 256,
    OPT_TITLE,
    OPT_SUBTITLE,
    OPT_WIDTH,
    OPT_HEIGHT,
    OPT_MINWIDTH,
    OPT_COUNTNAME,
    OPT_NAMETYPE,
    OPT_COLORS,
    OPT_HASH,
    OPT_REVERSE,
    OPT_INVERTED,
    OPT_FONTTYPE,
    OPT_FONTSIZE,
    OPT_FONTWIDTH,
    OPT_SCALE,
    OPT_RANDOM,
    OPT_CP,
    OPT_NEGATE,
    OPT_BGCOLORS,
    OPT_WIDTHS,
    OPT_CHANGE,
    OPT_CARRY,
    OPT_FLAMECHART,
    OPT_SERIES,
    OPT_TOTAL,
    OPT_FACTOR,
    OPT_NOTES,
    OPT_ENCODING,
    OPT_NAMEATTR,
    OPT_HELP,
};

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"format", required_argument, NULL, 'f'},
    {"view", required_argument, NULL, OPT_VIEW},
    {"title", required_argument, NULL, OPT_TITLE},
    {"subtitle", required_argument, NULL, OPT_SUBTITLE},
    {"width", required_argument, NULL, OPT_WIDTH},
    {"height", required_argument, NULL, OPT_HEIGHT},
    {"minwidth", required_argument, NULL, OPT_MINWIDTH},
    {"countname", required_argument, NULL, OPT_COUNTNAME},
    {"nametype", required_argument, NULL, OPT_NAMETYPE},
    {"colors", required_argument, NULL, OPT_COLORS},
    {"hash", no_argument, NULL, OPT_HASH},
    {"reverse", no_argument, NULL, OPT_REVERSE},
    {"inverted", no_argument, NULL, OPT_INVERTED},
    {"fonttype", required_argument, NULL, OPT_FONTTYPE},
    {"fontsize", required_argument, NULL, OPT_FONTSIZE},
    {"fontwidth", required_argument, NULL, OPT_FONTWIDTH},
    {"scale", required_argument, NULL, OPT_SCALE},
    {"random", no_argument, NULL, OPT_RANDOM},
    {"cp", optional_argument, NULL, OPT_CP},
    {"negate", no_argument, NULL, OPT_NEGATE},
    {"bgcolors", required_argument, NULL, OPT_BGCOLORS},
    {"widths", required_argument, NULL, OPT_WIDTHS},
    {"change", required_argument, NULL, OPT_CHANGE},
    {"carry", no_argument, NULL, OPT_CARRY},
    {"flamechart", no_argument, NULL, OPT_FLAMECHART},
    {"series", no_argument, NULL, OPT_SERIES},
    {"total", required_argument, NULL, OPT_TOTAL},
    {"factor", required_argument, NULL, OPT_FACTOR},
    {"notes", required_argument, NULL, OPT_NOTES},
    {"encoding", required_argument, NULL, OPT_ENCODING},
    {"nameattr", required_argument, NULL, OPT_NAMEATTR},
    {"help", no_argument, NULL, OPT_HELP},
    FILTER_OPTIONS,
    {NULL, 0, NULL, 0},
};

/* -1: go on; else the exit status. */
static int take_option(struct request *q, int opt, char **argv)
{
    struct render_options *o = &q->o;
    int status = filter_option(&q->filter, "render", opt, optarg);

    if (status >= 0)
        return status == FLAME_OK ? -1 : status;
    switch (opt) {
    case 'o':
        q->output = optarg;
        break;
    case 'f':
        q->format = optarg;
        break;
    case OPT_VIEW:
        q->view = optarg;
        break;
    case OPT_TITLE:
        o->title = optarg;
        break;
    case OPT_SUBTITLE:
        o->subtitle = optarg;
        break;
    case OPT_WIDTH:
        o->fluid = false;
        status = pixels("width", optarg, 100, 100000, &o->width);
        break;
    case OPT_HEIGHT:
        status = pixels("height", optarg, 4, 1000, &o->frame_height);
        break;
    case OPT_MINWIDTH:
        status = minwidth(o, optarg);
        break;
    case OPT_COUNTNAME:
        o->countname = optarg;
        break;
    case OPT_NAMETYPE:
        o->nametype = optarg;
        break;
    case OPT_COLORS:
        q->colors = optarg;
        break;
    case OPT_HASH:
        o->hash = true;
        break;
    case OPT_REVERSE:
        o->reverse = true;
        break;
    case OPT_INVERTED:
        o->inverted = true;
        break;
    case OPT_FONTTYPE:
        o->fonttype = optarg;
        break;
    case OPT_FONTSIZE:
        status = pixels("fontsize", optarg, 4, 100, &o->fontsize);
        break;
    case OPT_FONTWIDTH:
        status = plain_number("fontwidth", optarg, 0.01, 10, &o->fontwidth);
        break;
    case OPT_SCALE:
        status = plain_number("scale", optarg, 0.1, 10, &o->scale);
        break;
    case OPT_RANDOM:
        o->random = true;
        break;
    case OPT_CP:
        q->map_path = optarg ? optarg : "palette.map";
        break;
    case OPT_NEGATE:
        o->negate = true;
        break;
    case OPT_BGCOLORS:
        status = background(o, optarg);
        break;
    case OPT_WIDTHS:
        if (!difference_find_widths(optarg, &o->widths))
            status = flame_error(FLAME_USAGE,
                                 "render: --widths %s: expected after, before, either or elided",
                                 optarg);
        break;
    case OPT_CHANGE:
        if (!difference_find_colors(optarg, &o->change))
            status = flame_error(
                FLAME_USAGE, "render: --change %s: expected absolute, relative or ratio", optarg);
        break;
    case OPT_CARRY:
        o->carry = true;
        break;
    case OPT_FLAMECHART:
        o->ordered = true;
        break;
    case OPT_SERIES:
        q->series = true;
        break;
    case OPT_TOTAL:
        status = plain_number("total", optarg, 0, 1.8e19, &q->total);
        break;
    case OPT_FACTOR:
        status = plain_number("factor", optarg, 1e-18, 1e18, &o->factor);
        break;
    case OPT_NOTES:
        o->notes = optarg;
        break;
    case OPT_ENCODING:
        q->encoding = optarg;
        break;
    case OPT_NAMEATTR:
        q->attr_path = optarg;
        break;
    case OPT_HELP:
        help();
        return FLAME_OK;
    default:
        return opts_wrong("render", argv, opt);
    }
    return status > 0 ? status : -1;
}

static bool ends_in_json(const char *path)
{
    size_t len = strlen(path);

    return len > 5 && strcmp(path + len - 5, ".json") == 0;
}

static int find_backend(struct request *q)
{
    struct strbuf names = STRBUF_INIT;

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
    if (q->backend)
        return 0;
    for (size_t i = 0; render_backends[i]; i++)
        strbuf_addf(&names, "%s%s", i ? " " : "", render_backends[i]->name);
    flame_error(FLAME_USAGE, "render: unknown format '%s'; there are: %s", q->format, names.buf);
    strbuf_release(&names);
    return FLAME_USAGE;
}

static int find_palette(struct request *q)
{
    struct strbuf names = STRBUF_INIT;

    q->o.palette = palette_find(q->colors);
    if (q->o.palette >= 0)
        return 0;
    palette_add_names(&names);
    flame_error(FLAME_USAGE, "render: unknown palette '%s'; there are: %s", q->colors, names.buf);
    strbuf_release(&names);
    return FLAME_USAGE;
}

/* What the options leave open comes from the view, else from flamegraph.pl's defaults. */
static void fill_in(struct request *q, const struct input *in)
{
    const struct view_look *look = in->view ? view_look(in->view) : NULL;
    struct render_options *o = &q->o;

    if (!o->title)
        o->title = look          ? look->title
                   : o->ordered  ? "Flame Chart"
                   : o->inverted ? "Icicle Graph"
                                 : "Flame Graph";
    if (!o->countname)
        o->countname = in->unit ? in->unit : look ? look->unit : "samples";
    if (!q->colors) {
        q->colors = look ? look->palette : strcmp(o->countname, "bytes") == 0 ? "mem" : "hot";
        o->palette = palette_find(q->colors);
    }
}

/* A picture of estimates, or of a part, says so. What to free afterwards. */
static char *complete_subtitle(struct render_options *o, const struct input *in)
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
    strbuf_release(&part);
    o->subtitle = strbuf_detach(&sb, NULL);
    return (char *)o->subtitle;
}

/* What each column of the tree is called; the first one as the picture. */
static struct render_column *describe_columns(const struct input *in, struct render_options *o,
                                              const char *view)
{
    struct render_column *c = xcalloc(in->ncolumns, sizeof *c);

    for (uint32_t i = 0; i < in->ncolumns; i++) {
        const struct input_column *from = &in->columns[i];
        const struct view_look *look = from->view ? view_look(from->view) : NULL;

        c[i].name = from->view ? from->view : "";
        c[i].title = look ? look->title : c[i].name;
        c[i].timed = from->timed;
        c[i].time = from->time;
        c[i].unit = from->unit ? from->unit : look ? look->unit : o->countname;
    }
    if (in->ncolumns == 1)
        c[0].unit = o->countname;
    o->columns = c;
    o->ncolumns = in->ncolumns;
    o->view = view;
    return c;
}

/* One side of a comparison may be all there is. */
static int check_side(const struct frametree *t, enum difference_widths w)
{
    if (folded_count_double(frametree_total(t, 0)) > 0)
        return 0;
    return flame_error(FLAME_USAGE, "every %s count is 0; --widths either has room for the others",
                       w == DIFFERENCE_BEFORE ? "first" : "second");
}

static int draw(struct request *q)
{
    const char *to = q->output ? q->output : "standard output";
    struct render_column *columns;
    struct outfile out;
    struct input in;
    char *subtitle;
    struct input_options options = {
        .view = q->view,
        .reverse = q->o.reverse != q->backend->from_leaf && !q->backend->explores,
        .keep_order = q->o.ordered,
        .encoding = q->encoding,
        .columns = q->backend->all_views,
        .lines = q->backend->lines,
        .series = q->series,
        .first_side = true,
        .filter = &q->filter,
        .command = "render",
    };
    int err, status = input_read(&in, q->inputs, q->ninputs, &options);

    if (status)
        return status;
    fill_in(q, &in);
    subtitle = complete_subtitle(&q->o, &in);
    columns = describe_columns(&in, &q->o, q->view);
    if (in.tree.delta && !q->backend->explores) {
        difference_apply(&in.tree, q->o.widths);
        status = check_side(&in.tree, q->o.widths);
    }
    if (q->total > 0)
        input_set_total(&in, q->total);
    if (!in.tree.delta && (q->o.widths || q->o.change || q->o.carry))
        flame_warn("the input is not a comparison (two counts a line): --widths, --change and "
                   "--carry are left aside");
    err = status ? 0 : outfile_open(&out, q->output);
    if (err) {
        status = flame_error(FLAME_USAGE, "%s: %s", to, strerror(-err));
    } else if (!status) {
        err = q->backend->write(out.f, &in.tree, &q->o);
        if (err)
            outfile_abort(&out);
        else
            err = outfile_commit(&out);
        if (err)
            status = flame_error(FLAME_FAILED, "%s: %s", to, strerror(-err));
    }
    free(columns);
    input_release(&in);
    free(subtitle);
    return status;
}

/* The files that colours and attributes come from; the colours are written back. */
static int draw_with_files(struct request *q)
{
    struct nameattrs *attrs = NULL;
    int err = 0, status = 0;

    if (q->attr_path)
        status = nameattrs_read(&attrs, q->attr_path);
    q->o.nameattr = attrs;
    if (!status && q->map_path) {
        q->o.colormap = colormap_new();
        err = colormap_read(q->o.colormap, q->map_path);
    }
    if (!status && !err)
        status = draw(q);
    if (!status && !err && q->map_path)
        err = colormap_write(q->o.colormap, q->map_path);
    if (err)
        status = flame_error(FLAME_USAGE, "%s: %s", q->map_path, strerror(-err));
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
    int opt, status = -1;

    opterr = 0;
    optind = 0; /* not 1: getopt is to forget where it stood in another argv */
    while (status < 0 && (opt = getopt_long(argc, argv, ":o:f:", long_options, NULL)) != -1)
        status = take_option(&q, opt, argv);
    q.inputs = argv + optind;
    q.ninputs = (size_t)(argc - optind);
    /* The tree is merged from the leaf at no cost, and the page can show both. */
    q.o.reverse |= q.filter.from_caller;
    q.filter.from_caller = false;
    if (status < 0 && !(status = find_backend(&q)) && !(q.colors && (status = find_palette(&q))))
        status = draw_with_files(&q);
    filter_release(&q.filter);
    return status;
}
