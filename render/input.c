/* Lines and traces go into the tree as they are read: memory holds the tree, not the text. */
#include "render/input.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/options/values.h"
#include "common/trace/trace_parts.h"
#include "fold/collapse/collapse.h"
#include "fold/analysis/recordingset.h"
#include "fold/stacks/wrong_input.h"
#include "fold/stacks/filter_lines.h"
#include "fold/fold.h"
#include "fold/lanetext.h"
#include "fold/load.h"
#include "render/frametree_modules.h"
#include "fold/viewtable.h"

#define COLUMNS_MAX 4096 /* a column takes eight bytes a frame */

#define AT(member) offsetof(struct input_of_traces, member)

const struct opts_row input_trace_rows[] = {
    {.help = "Of traces, as for 'flame fold':"},
    {"pid", .help = "the root frame is COMM-PID", .take = opts_take_true, .at = AT(pid)},
    {"tid", .help = "a frame for each thread under the root", .take = opts_take_true,
     .at = AT(tid)},
    {"ancestors", .help = "a frame for each process it descends from under the root",
     .take = opts_take_true, .at = AT(ancestors)},
    {"idle", .help = "no sleeps of threads that only wait for work", .take = opts_take_true,
     .at = AT(idle)},
    {0},
};

void input_of_traces_release(struct input_of_traces *of)
{
    fold_when_release(&of->when);
}

/* One file being read. */
#define UNKNOWN_SHOWN 120u /* bytes of a line */

struct reader {
    struct input *in;
    const struct input_options *o;
    struct filter_lines *lines; /* NULL: no filter */
    struct process_tree *tree;  /* NULL: ancestors are not requested */
    const char *name;           /* for messages */
    uint32_t column;            /* the column that counts go to */
    enum module_text modules;   /* how names carry their module */
    struct strbuf stack;        /* room for a stack that has to be rewritten */
    bool columns;               /* counts of different views are kept apart */
    bool timed;                 /* the following counts are of this moment, unless a line says
                                   another */
    double moment;
    uint64_t line, stacks, unknown, first_unknown;
    struct strbuf unknown_text; /* that line, or its beginning */
    struct folded_columns counts;
    struct trace_parts *parts; /* collects parts of recordings; NULL: each part is drawn alone */
    bool several;              /* other files may have the view if this one lacks it */
    bool lacked;               /* this file lacks it */
    bool no_hint;              /* a hint is printed for another file only */
};

/* Stores the value of `key` if there is none yet: when several texts are merged, the first one
 * counts. */
static void take_meta(const struct reader *r, char **where, const char *s, size_t len,
                      const char *key)
{
    const char *value;
    size_t n;

    if (!folded_find_meta(s, len, key, &value, &n))
        return;
    if (!*where)
        *where = xmemdup0(value, n);
    else if (strlen(*where) != n || memcmp(*where, value, n) != 0)
        flame_warn("%s:%" PRIu64 ": %s is %.*s here and %s before; sums of both mean little",
                   r->name, r->line, key, (int)(n < 40 ? n : 40), value, *where);
}

static bool says(const char *known, const char *s, size_t len, const char *key)
{
    const char *value;
    size_t n;

    return !known || !folded_find_meta(s, len, key, &value, &n) ||
           (strlen(known) == n && memcmp(known, value, n) == 0);
}

/* The moment of the following counts, in seconds. */
static void take_time(struct reader *r, const char *s, size_t len)
{
    const char *value;
    char text[64], *end;
    size_t n, kept;
    double v;

    if (!folded_find_meta(s, len, "time", &value, &n))
        return;
    kept = n < sizeof text ? n : sizeof text - 1;
    memcpy(text, value, kept);
    text[kept] = '\0';
    v = strtod(text, &end);
    if (n == 0 || kept < n || *end || !isfinite(v)) {
        flame_warn("%s:%" PRIu64 ": time=%s is not a number of seconds and left aside", r->name,
                   r->line, text);
        return;
    }
    r->timed = true;
    r->moment = v;
}

/* Whether a value is a number as flame writes it, of digits and '.' only, so that it is safe in
 * titles. */
static bool is_number(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (s[i] != '.' && (s[i] < '0' || s[i] > '9'))
            return false;
    return len <= 24;
}

/* Stores the moment or range of a column as the text has it. Texts of several moments may be
 * added up; such a column has none. */
static void take_when(struct input_column *c, const char *s, size_t len)
{
    const struct {
        const char *key;
        char **where;
    } words[] = {{"from", &c->from}, {"to", &c->to}};
    const char *value = "";
    size_t n;

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        char **where = words[i].where;

        if (!folded_find_meta(s, len, words[i].key, &value, &n) &&
            (i == 0 || !folded_find_meta(s, len, "time", &value, &n)))
            n = 0;
        if (!is_number(value, n))
            n = 0;
        if (!*where)
            *where = xmemdup0(n ? value : "", n);
        else if (strlen(*where) != n || (n && memcmp(*where, value, n) != 0))
            **where = '\0';
    }
}

/*
 * The column whose view, unit and moment do not contradict the line; a new one where
 * all do. 0, or an enum flame_exit after a line.
 */
static int use_column(struct reader *r, const char *s, size_t len)
{
    struct input *in = r->in;
    uint32_t i = 0;

    for (; i < in->ncolumns; i++) {
        const struct input_column *c = &in->columns[i];

        if (!c->used || (says(c->view, s, len, "view") && says(c->unit, s, len, "unit") &&
                         c->timed == r->timed && (!c->timed || c->time == r->moment)))
            break;
    }
    if (i == COLUMNS_MAX)
        return flame_error(FLAME_USAGE,
                           "%s:%" PRIu64 ": more than %d views and moments; take fewer", r->name,
                           r->line, COLUMNS_MAX);
    if (i == in->ncolumns) {
        in->columns = xreallocarray(in->columns, ++in->ncolumns, sizeof *in->columns);
        in->columns[i] = (struct input_column){0};
    }
    in->columns[i].timed = r->timed;
    in->columns[i].time = r->timed ? r->moment : 0;
    r->column = i;
    frametree_use_column(&in->tree, i);
    return 0;
}

static int take_heading(struct reader *r, const char *s, size_t len)
{
    struct input *in = r->in;
    const char *value;
    size_t n;
    int status = 0;

    if (!folded_find_meta(s, len, "view", &value, &n) &&
        !folded_find_meta(s, len, "unit", &value, &n) &&
        !folded_find_meta(s, len, "time", &value, &n))
        return 0;
    if (r->columns) {
        take_time(r, s, len);
        status = use_column(r, s, len);
        in->columns[r->column].used = true;
    }
    take_meta(r, &in->columns[r->column].view, s, len, "view");
    take_meta(r, &in->columns[r->column].unit, s, len, "unit");
    take_when(&in->columns[r->column], s, len);
    in->view = in->columns[0].view;
    in->unit = in->columns[0].unit;
    return status;
}

/* Adds the filtered-out count of a line, "12", or "12,34" of a comparison, of which the second
 * is shown. */
static void take_left_out(struct reader *r, const char *s, size_t len)
{
    const char *value, *comma;
    struct stackset_count count;
    size_t n;

    if (!folded_find_meta(s, len, FOLDED_LEFT_OUT, &value, &n))
        return;
    comma = memchr(value, ',', n);
    if (comma) {
        n -= (size_t)(comma + 1 - value);
        value = comma + 1;
    }
    if (stackset_count_parse(value, n, &count))
        r->in->columns[r->column].left_out += (double)stackset_count_number(&count);
}

static int too_many(struct reader *r)
{
    return flame_error(FLAME_FAILED,
                       "%s:%" PRIu64 ": more than 2^31 different frames; filter the input", r->name,
                       r->line);
}

#define REGIONS_KEPT 65536u /* bytes of comments */

/* Tags of lines on their way through the filter: columns, from HISTORIES on histories, and from
 * LANES on stacks of lanes. */
#define HISTORIES COLUMNS_MAX
#define LANES (1u << 31)

static int place_lanes(struct input *in, const char *stack, size_t len, size_t nth)
{
    uint32_t node;
    int err = frametree_place(&in->tree, stack, len, &node);

    if (!err)
        lanes_placed(&in->lanes, nth, node);
    return err;
}

static int place_history(struct input *in, const char *stack, size_t len, size_t history)
{
    uint32_t node;
    int err = frametree_place(&in->tree, stack, len, &node);

    if (!err)
        timeline_placed(&in->timeline, history, node);
    return err;
}

/* A line that the filter kept. */
static int take_kept(void *opaque, const struct folded_line *line, unsigned column)
{
    struct input *in = opaque;

    if (column >= LANES)
        return place_lanes(in, line->stack, line->len, column - LANES);
    if (column >= HISTORIES)
        return place_history(in, line->stack, line->len, column - HISTORIES);
    frametree_use_column(&in->tree, column);
    return frametree_add(&in->tree, line);
}

/* Whether names need their modules. A filter that turns frames into modules needs them, too, and
 * removes them. */
static bool keeps_modules(const struct reader *r)
{
    return r->o->modules || (r->o->filter && r->o->filter->by == PLACE_MODULE);
}

static int take_stack(struct reader *r, struct folded_line *line)
{
    bool kept;
    int err;

    if (folded_is_too_deep(line->stack, line->len))
        return flame_error(FLAME_USAGE, "%s: cannot read: line %" PRIu64 " %s", r->name, r->line,
                           FOLDED_TOO_DEEP);
    module_text_stack(r->modules, keeps_modules(r), &r->stack, &line->stack, &line->len);
    r->stacks++;
    if (!r->lines)
        return frametree_add(&r->in->tree, line) < 0 ? too_many(r) : 0;
    err = filter_lines_add(r->lines, line, r->column, &kept);
    if (!kept)
        r->in->columns[r->column].left_out += folded_count_double(line->count);
    return err < 0 ? too_many(r) : 0;
}

/* Sends a stack of a history or of lanes through the filter; its tag is `first` + `nth`. Filter
 * counts stay unchanged, as the lines with counts account for what is filtered out. */
static int filter_placed(struct reader *r, const char *stack, size_t len, unsigned first,
                         size_t nth)
{
    const struct folded_line line = {.stack = stack, .len = len, .count = {1, 0}};
    struct filter *f = r->o->filter;
    uint64_t before = f->kept, dropped = f->dropped;
    bool kept;
    int err;

    if (nth >= LANES - HISTORIES)
        return 0;
    err = filter_lines_add(r->lines, &line, first + (unsigned)nth, &kept);
    f->kept = before;
    f->dropped = dropped;
    return err;
}

static int take_moments(struct reader *r, const char *s, size_t len)
{
    size_t stack_len, nth;
    const char *stack;
    bool history;
    int err;

    if (!(r->o->moments || r->o->waits) || r->timed)
        return 0;
    history = r->o->moments &&
              timeline_comment(&r->in->timeline, s, len, r->line, &stack, &stack_len, &nth);
    if (!history && !lanes_comment(&r->in->lanes, s, len, r->line, &stack, &stack_len, &nth))
        return 0;
    if (folded_is_too_deep(stack, stack_len))
        return flame_error(FLAME_USAGE, "%s: cannot read: line %" PRIu64 " %s", r->name, r->line,
                           FOLDED_TOO_DEEP);
    module_text_stack(r->modules, keeps_modules(r), &r->stack, &stack, &stack_len);
    if (r->lines)
        err = filter_placed(r, stack, stack_len, history ? HISTORIES : LANES, nth);
    else
        err = (history ? place_history : place_lanes)(r->in, stack, stack_len, nth);
    return err < 0 ? too_many(r) : 0;
}

/* Keeps a comment about the lengths of regions (fold/analysis/regiontext.h), for reports. */
static void take_region(struct input *in, const char *s, size_t len)
{
    static const char begins[] = "# region: ";

    if (len < sizeof begins || memcmp(s, begins, sizeof begins - 1) != 0 ||
        in->regions.len > REGIONS_KEPT)
        return;
    strbuf_add(&in->regions, s, len);
    strbuf_addch(&in->regions, '\n');
}

static int take_line(struct reader *r, const char *s, size_t len)
{
    struct folded_line line;
    int kind;

    if (++r->line == 1 && len >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0) {
        s += 3; /* a byte order mark is no part of the first name */
        len -= 3;
    }
    kind = folded_columns_parse(&r->counts, s, len, r->line, &line);
    if (kind == 0) {
        int status = take_heading(r, s, len);

        if (!status)
            status = take_moments(r, s, len);
        if (status)
            return status;
        r->modules = module_text_of(s, len, r->modules);
        r->in->modules |= r->modules && r->o->modules;
        take_meta(r, &r->in->sample, s, len, "sample");
        take_left_out(r, s, len);
        take_region(r->in, s, len);
    } else if (kind < 0) {
        if (r->unknown++ == 0) {
            r->first_unknown = r->line;
            strbuf_add(&r->unknown_text, s, len < UNKNOWN_SHOWN ? len : UNKNOWN_SHOWN);
        }
    } else {
        r->in->columns[r->column].used = true;
        return take_stack(r, &line);
    }
    return 0;
}

/* Refuses options whose information is lost in text that is already folded. */
static int refuse_options(const struct reader *r, struct textinput *text)
{
    const struct input_of_traces *of = r->o->of_traces;
    const char *given = of->pid               ? "pid"
                        : of->tid             ? "tid"
                        : of->ancestors       ? "ancestors"
                        : of->idle            ? "idle"
                        : of->when.at.given   ? "at"
                        : of->when.from.given ? "from"
                                              : NULL,
               *any;

    if (!given || !textinput_peek(text, &any, 1))
        return 0;
    return flame_error(FLAME_USAGE,
                       "%s: %s: --%s is of traces, and this is folded already; give it to 'flame "
                       "fold'",
                       r->o->command, r->name, given);
}

static int read_text(struct reader *r, struct textinput *text)
{
    struct textrecord rec;
    const char *begins;
    size_t len = textinput_peek(text, &begins, FOLDED_COLUMNS_LOOK);
    int status = 0;

    folded_columns_begin(&r->counts, begins, len);
    while (!status && textinput_record(text, &rec))
        status = take_line(r, rec.line.s, rec.line.len);
    folded_columns_release(&r->counts);
    if (text->error)
        return textinput_cannot_read(text);
    return status;
}

/* The views to fold: the requested one, and those that are columns beside it; NULL: only the
 * requested one. Columns beside a view of memory are of the whole recording. */
static const struct view *with_views_beside(const struct reader *r, const struct trace *t,
                                            struct view views[VIEWS_MAX + 1])
{
    bool memory = t->header.recorder == TRACE_RECORDER_MEM;
    const struct view *all = views_of(t->header.recorder);
    const struct view *asked = r->o->view ? view_find(r->o->view) : all;
    size_t n = 0;

    if (!(memory ? r->o->classes : r->o->latency) || asked->shape == VIEW_CLASS ||
        asked->recorder != t->header.recorder || !view_is_in(asked, t) ||
        (memory && fold_when_given(&r->o->of_traces->when)))
        return NULL;
    views[n++] = *asked;
    for (const struct view *v = all; v->name; v++)
        if (v->beside && v != asked && view_is_in(v, t))
            views[n++] = *v;
    views[n] = (struct view){.name = NULL};
    return n > 1 ? views : NULL;
}

/* Folds one trace as "flame fold" does, which adds traces up. Owns the trace from now on. */
static int fold_alone(const struct fold_options *options, struct trace *trace, bool lacked,
                      struct strbuf *text)
{
    struct tracesums *sums = tracesums_new(options);
    int status = tracesums_add(sums, trace);
    struct trace *const *traces;
    size_t n;

    if (!status && !lacked) {
        traces = tracesums_get(sums, &n);
        status = fold_loaded(options, traces, n, text);
    }
    tracesums_free(sums);
    return status;
}

/* Folds a trace and reads the text. An explorer gets all views, and the file and line of frames.
 * Takes the trace over. */
static int take_trace(struct reader *r, struct trace *trace)
{
    bool memory = trace->header.recorder == TRACE_RECORDER_MEM;
    struct fold_options options = {.view = r->o->view,
                                   .all_views = r->o->columns && !r->o->view &&
                                                !(memory && r->o->memory_has_one)};
    struct strbuf text = STRBUF_INIT;
    struct view views[VIEWS_MAX + 1];
    struct textinput in;
    bool waits;
    int status;

    options.views = with_views_beside(r, trace, views);
    r->columns |= options.views != NULL;
    options.pid = r->o->of_traces->pid || r->o->by_process;
    options.tid = r->o->of_traces->tid || r->o->by_thread;
    options.idle = r->o->of_traces->idle;
    options.ancestors = r->o->of_traces->ancestors;
    options.ages = r->o->of_traces->ages;
    if (r->o->filter)
        fold_options_for(&options, r->o->filter);
    options.tree = r->tree;
    options.symbols.lines |= r->o->lines;
    options.modules = r->o->modules;
    options.when = &r->o->of_traces->when;
    if (!options.view && fold_when_given(options.when) &&
        trace->header.recorder == TRACE_RECORDER_OFF)
        options.view = views_of(TRACE_RECORDER_OFF)->name;
    waits = r->o->waits && !memory;
    options.moments = (waits || r->o->moments) && !r->timed && !fold_when_given(options.when);
    options.lane_bytes = waits ? LANETEXT_EXPORT_BYTES : 0;
    status = fold_when_settle(&options, r->o->command);
    if (!status && options.moments)
        status = trace_moments_beside(trace);
    options.no_hint = r->no_hint;
    r->lacked = !status && r->several && fold_may_lack(&options, trace);
    if (status)
        trace_free(trace);
    else
        status = fold_alone(&options, trace, r->lacked, &text);
    if (!status && !r->lacked) {
        textinput_memory(&in, r->name, &text);
        status = read_text(r, &in);
        textinput_close(&in);
    }
    strbuf_release(&text);
    return status;
}

/* Reads a trace. It is folded to text, which is read like any other. */
static int read_trace(struct reader *r, struct textinput *in, const char *path)
{
    struct trace *trace = NULL;
    bool is_part = false;
    int status = load_trace(in, path, &trace);

    if (!status && r->parts)
        status = trace_parts_take(r->parts, trace, &is_part);
    if (!status && is_part)
        return 0;
    if (!status)
        status = trace_part_settle(trace);
    if (!status)
        return take_trace(r, trace);
    trace_free(trace);
    return status;
}

static void say_wrong_moments(struct reader *r)
{
    struct timeline *tl = &r->in->timeline;

    if (tl->wrong)
        flame_warn("%s: %" PRIu64 " of its lines about moments make no sense and are left aside, "
                   "the first is line %" PRIu64,
                   r->name, tl->wrong, tl->first_wrong);
    tl->wrong = 0;
    if (r->in->lanes.wrong)
        flame_warn("%s: %" PRIu64 " of its lines about lanes make no sense and are left aside, "
                   "the first is line %" PRIu64,
                   r->name, r->in->lanes.wrong, r->in->lanes.first_wrong);
    r->in->lanes.wrong = 0;
}

/* Checks a file after it was read. A text without a stack is empty if the other files are, too. */
static int check_file(const struct reader *r)
{
    if (folded_refuse_foreign(r->name, r->stacks, r->unknown, r->first_unknown,
                              r->unknown_text.buf))
        return FLAME_USAGE;
    folded_columns_say(&r->counts, r->name);
    if (r->unknown)
        flame_warn("%s: %" PRIu64 " of %" PRIu64 " lines not understood and left out, the first "
                   "is line %" PRIu64,
                   r->name, r->unknown, r->line, r->first_unknown);
    return 0;
}

/* State for all files. */
struct reading {
    const struct input_options *o;
    struct filter_lines *lines;
    struct process_tree *tree;
    struct trace_parts *parts;
    bool several;   /* files, some of which may lack the view */
    size_t largest; /* the number of the file for which hints are printed */
    size_t lacked;  /* number of files that lack it */
};

static int read_file(struct input *in, struct reading *all, const char *path, size_t nth)
{
    const struct input_options *o = all->o;
    struct reader r = {.in = in,
                       .o = o,
                       .columns = o->columns,
                       .lines = all->lines,
                       .tree = all->tree,
                       .parts = all->parts,
                       .unknown_text = STRBUF_INIT,
                       .several = all->several,
                       .no_hint = all->several && nth != all->largest,
                       .stack = STRBUF_INIT};
    struct textinput text;
    int err = textinput_open(&text, path), status;
    bool is_trace;

    r.name = text.name;
    if (err)
        return flame_cannot_read(path, err);
    frametree_use_column(&in->tree, 0);
    timeline_begin(&in->timeline);
    if (o->series && o->columns) {
        r.timed = true;
        r.moment = (double)nth;
    }
    status = wrong_input_refuse(&text);
    is_trace = !status && load_is_trace(&text);
    if (!status && !is_trace)
        status = collapse_refuse(&text);
    if (!status && r.timed)
        status = use_column(&r, "", 0);
    if (!status && !is_trace)
        status = refuse_options(&r, &text);
    if (!status)
        status = is_trace ? read_trace(&r, &text, path) : read_text(&r, &text);
    textinput_close(&text);
    strbuf_release(&r.stack);
    say_wrong_moments(&r);
    all->lacked += r.lacked;
    if (!status)
        status = check_file(&r);
    strbuf_release(&r.unknown_text);
    return status;
}

/* Reads the parts of recordings, joined, when all files have been read. */
static int read_parts(struct input *in, const struct reading *all, struct trace_parts *parts)
{
    struct trace **joined;
    size_t n = trace_parts_join(parts, &joined);
    int status = 0;

    for (size_t i = 0; i < n; i++) {
        char *name = xstrdup(joined[i]->path);
        struct reader r = {.in = in,
                           .name = name,
                           .o = all->o,
                           .columns = all->o->columns,
                           .lines = all->lines,
                           .tree = all->tree,
                           .stack = STRBUF_INIT};

        frametree_use_column(&in->tree, 0);
        timeline_begin(&in->timeline);
        if (!status)
            status = take_trace(&r, joined[i]);
        else
            trace_free(joined[i]);
        strbuf_release(&r.stack);
        free(name);
    }
    free(joined);
    return status;
}

static bool is_empty(const struct frametree *t, bool first_side)
{
    for (uint32_t i = 0; first_side && t->delta && i < t->n; i++)
        if (t->delta[i] < 0)
            return false;
    for (uint32_t c = 0; c < t->ncolumns; c++)
        for (uint32_t i = 0; i < t->n; i++)
            if (t->columns[c][i] > 0)
                return false;
    return folded_count_double(frametree_total(t, 0)) <= 0;
}

/* Warns that nothing was counted. That is a result, of an idle machine for one, and no error. */
static void say_empty(struct input *in, const char *name)
{
    struct strbuf sb = STRBUF_INIT;

    if (in->view && in->ncolumns > 1)
        strbuf_addstr(&sb, "all views are empty");
    else if (in->view)
        strbuf_addf(&sb, "the %s view is empty", in->view);
    else
        strbuf_addstr(&sb, "the profile is empty");
    flame_warn("%s: %s", name, sb.buf);
    in->empty = strbuf_detach(&sb, NULL);
}

static int check_all(struct input *in, const char *name, const struct input_options *o)
{
    frametree_finish(&in->tree);
    if (in->tree.saturated)
        flame_warn("%s: counts add up to more than 2^64; the largest ones are cut there", name);
    if (!is_empty(&in->tree, o->first_side))
        return 0;
    if (in->tree.n > 1) /* no tool writes such text: an earlier stage failed */
        return flame_error(FLAME_USAGE, "%s: every count is 0; there is nothing to show", name);
    say_empty(in, name);
    return 0;
}

void input_set_total(struct input *in, double total)
{
    struct frametree *t = &in->tree;
    struct folded_count all = frametree_total(t, 0), wanted;

    wanted = (struct folded_count){(uint64_t)total, total - floor(total)};
    if (total < folded_count_double(all)) {
        flame_warn("--total %g is less than the counts add up to, so it is left aside", total);
        return;
    }
    t->nodes[0].total = wanted.whole;
    if (t->total_part)
        t->total_part[0] = wanted.part;
}

/* Index of the largest file, the only one for which hints are printed: hints for each of many
 * programs would be too many. */
static size_t largest_of(char *const *paths, size_t n)
{
    size_t largest = 0;
    off_t most = 0;
    struct stat st;

    for (size_t i = 0; i < n; i++)
        if (stat(paths[i], &st) == 0 && st.st_size > most) {
            most = st.st_size;
            largest = i;
        }
    return largest;
}

static int read_files(struct input *in, struct filter_lines *lines, char *const *paths,
                      size_t npaths, const struct input_options *o)
{
    bool pids = o->of_traces->pid || o->by_process || (o->filter && o->filter->by_process);
    struct reading all = {.o = o, .lines = lines};
    struct trace_parts parts = {.parts = NULL};
    int status = 0;

    o->of_traces->when.as_asked = o->of_traces->when.several = npaths > 1;
    if (o->of_traces->ancestors)
        all.tree = process_tree_new(pids);
    if (!(o->series && o->columns)) /* there each file is a column of its own */
        all.parts = &parts;
    for (size_t i = 0; all.tree && !status && i < npaths; i++)
        status = load_process(all.tree, paths[i]);
    if (npaths == 0)
        status = read_file(in, &all, NULL, 0);
    all.several = npaths > 1;
    all.largest = largest_of(paths, npaths);
    for (size_t i = 0; !status && i < npaths; i++)
        status = read_file(in, &all, paths[i], i);
    if (!status && all.several && all.lacked == npaths) {
        all.several = false; /* now the error is printed */
        status = read_file(in, &all, paths[0], 0);
    }
    if (!status)
        status = read_parts(in, &all, &parts);
    if (!status)
        status = fold_when_check(&o->of_traces->when);
    trace_parts_release(&parts);
    process_tree_free(all.tree);
    return status;
}

static int read_filtered(struct input *in, char *const *paths, size_t npaths,
                         const struct input_options *o)
{
    struct filter_lines *lines = filter_lines_new(o->filter, take_kept, in);
    int status = read_files(in, lines, paths, npaths, o);

    if (!status && filter_lines_end(lines) < 0)
        status = flame_error(FLAME_FAILED, "more than 2^31 different frames; filter the input");
    filter_lines_free(lines);
    if (!status && !o->filter->gave_up && !o->filter->kept && o->filter->dropped)
        return flame_error(FLAME_USAGE,
                           "%s: the filters leave none of %" PRIu64
                           " stacks; there is nothing to show",
                           o->command, o->filter->dropped);
    return status ? status : filter_check(o->filter, o->command);
}

char *input_title(const struct input *in)
{
    const struct view *v = view_of_text(in->view);
    const char *from = in->columns[0].from, *to = in->columns[0].to;
    struct strbuf sb = STRBUF_INIT;

    from = from && *from ? from : NULL;
    to = to && *to ? to : NULL;
    if (!v || in->ncolumns > 1 || !(from || to))
        return NULL;
    strbuf_addstr(&sb, v->moment_title ? v->moment_title : v->title);
    if (from)
        strbuf_addf(&sb, " from %s s", from);
    if (to)
        strbuf_addf(&sb, " %s %s s", from ? "to" : v->moment_title ? "at" : "until", to);
    return strbuf_detach(&sb, NULL);
}

bool input_say_left_out(const struct input *in, struct strbuf *sb)
{
    double out = in->columns[0].left_out;

    if (!(out > 0))
        return false;
    strbuf_addf(sb, "filtered: %.3g%% left out",
                out / (out + folded_count_double(frametree_total(&in->tree, 0))) * 100);
    return true;
}

/* All files of recordings whose first is named; in a series each file is a column of its own. */
static int read_recordings(struct input *in, char *const *paths, size_t npaths,
                           const struct input_options *o)
{
    struct recordingset files = {.n = 0};
    bool series = o->series && o->columns;
    int status;

    if (!series) {
        recordingset_find(&files, paths, npaths);
        paths = files.paths;
        npaths = files.n;
    }
    if (o->filter && o->filter->active)
        status = read_filtered(in, paths, npaths, o);
    else
        status = read_files(in, NULL, paths, npaths, o);
    recordingset_release(&files);
    return status;
}

int input_read(struct input *in, char *const *paths, size_t npaths, const struct input_options *o)
{
    const char *first = npaths ? paths[0] : "-";
    int status, err;

    *in = (struct input){.ncolumns = 1, .regions = STRBUF_INIT};
    in->columns = xcalloc(1, sizeof *in->columns);
    lanes_init(&in->lanes);
    frametree_init(&in->tree, o->reverse);
    if (o->keep_order)
        frametree_keep_order(&in->tree);
    status = read_recordings(in, paths, npaths, o);
    if (!status && o->encoding && (err = frametree_recode(&in->tree, o->encoding)))
        status = flame_error(FLAME_USAGE, "unknown encoding '%s'; iconv -l lists those there are",
                             o->encoding);
    if (!status)
        fold_when_say(&o->of_traces->when);
    timeline_finish(&in->timeline);
    lanes_finish(&in->lanes);
    if (in->lanes.others)
        flame_warn("lanes are drawn of the first of %" PRIu64 " recordings: each has a time of its "
                   "own; draw the others by themselves",
                   in->lanes.others + 1);
    if (!status)
        status = check_all(in, strcmp(first, "-") == 0 ? "standard input" : first, o);
    if (!status && in->modules)
        frametree_split_modules(&in->tree);
    if (status)
        input_release(in);
    return status;
}

void input_release(struct input *in)
{
    frametree_release(&in->tree);
    timeline_release(&in->timeline);
    lanes_release(&in->lanes);
    strbuf_release(&in->regions);
    for (uint32_t i = 0; i < in->ncolumns; i++) {
        free(in->columns[i].view);
        free(in->columns[i].unit);
        free(in->columns[i].from);
        free(in->columns[i].to);
    }
    free(in->columns);
    free(in->sample);
    free(in->empty);
    *in = (struct input){0};
}
