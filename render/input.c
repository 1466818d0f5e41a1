/* Lines and traces go into the tree as they are read: memory holds the tree, not the text. */
#include "render/input_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/options/values.h"
#include "fold/collapse/collapse.h"
#include "common/files/trace_file.h"
#include "fold/analysis/recordingset.h"
#include "fold/stacks/wrong_input.h"
#include "fold/fold.h"
#include "fold/load.h"
#include "fold/viewtable.h"

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

static int read_file(struct input *in, struct reading *all, const char *path, size_t nth)
{
    const struct input_options *o = all->o;
    struct reader r = {.in = in,
                       .o = o,
                       .columns = o->columns,
                       .lines = all->lines,
                       .tree = all->tree,
                       .parts = all->parts,
                       .pools = all->pools,
                       .unknown_text = STRBUF_INIT,
                       .several = all->several,
                       .no_hint = all->several && nth != all->largest,
                       .stack = STRBUF_INIT};
    struct textinput text;
    int err = textinput_open(&text, path), status;
    bool is_trace;

    r.name = text.name;
    if (err)
        return trace_file_cannot_read(path, err);
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
        status = input_use_column(&r, "", 0);
    if (!status && !is_trace)
        status = refuse_options(&r, &text);
    if (!status)
        status = is_trace ? input_read_trace(&r, &text, path) : input_read_text(&r, &text);
    textinput_close(&text);
    strbuf_release(&r.stack);
    say_wrong_moments(&r);
    all->lacked += r.lacked;
    all->unread += r.unread;
    if (!status)
        status = check_file(&r);
    strbuf_release(&r.unknown_text);
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
    uint64_t most = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t size = trace_file_size(paths[i]);

        if (size > most) {
            most = size;
            largest = i;
        }
    }
    return largest;
}

/* Reads the pools so far if the next file is of waiting: columns are in the order of the files. */
static int read_pools_before(struct input *in, const struct reading *all, const char *path)
{
    int status;

    if (!all->pools || !all->pools->n || recordingset_recorder(path) != TRACE_RECORDER_OFF)
        return 0;
    status = input_read_pools(in, all);
    input_release_pools(all->pools);
    return status;
}

static int read_files(struct input *in, struct filter_lines *lines, char *const *paths,
                      size_t npaths, const struct input_options *o)
{
    bool pids = o->of_traces->pid || o->by_process || (o->filter && o->filter->by_process);
    struct reading all = {.o = o, .lines = lines};
    struct trace_parts parts = {.parts = NULL};
    struct tracepools pools = {.n = 0};
    int status = 0;

    o->of_traces->when.as_asked = o->of_traces->when.several = npaths > 1;
    if (o->of_traces->ancestors)
        all.tree = process_tree_new(pids);
    if (!(o->series && o->columns)) { /* there each file is a column of its own */
        all.parts = &parts;
        all.pools = &pools;
    }
    for (size_t i = 0; all.tree && !status && i < npaths; i++)
        status = load_process(all.tree, paths[i]);
    if (npaths == 0)
        status = read_file(in, &all, NULL, 0);
    all.several = npaths > 1;
    all.largest = largest_of(paths, npaths);
    for (size_t i = 0; !status && i < npaths; i++) {
        status = read_pools_before(in, &all, paths[i]);
        if (!status)
            status = read_file(in, &all, paths[i], i);
    }
    if (!status && all.several && all.lacked + all.unread == npaths) {
        all.several = false; /* now the error is printed */
        status = read_file(in, &all, paths[0], 0);
    }
    if (!status && all.pools)
        status = input_read_pools(in, &all);
    if (!status)
        status = input_read_parts(in, &all, &parts);
    if (!status)
        status = fold_when_check(&o->of_traces->when);
    trace_parts_release(&parts);
    input_release_pools(&pools);
    process_tree_free(all.tree);
    return status;
}

static int read_filtered(struct input *in, char *const *paths, size_t npaths,
                         const struct input_options *o)
{
    struct filter_lines *lines = filter_lines_new(o->filter, input_take_kept, in);
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

static int read_chosen(struct input *in, char *const *paths, size_t npaths,
                       const struct input_options *o)
{
    return o->filter && o->filter->active ? read_filtered(in, paths, npaths, o)
                                          : read_files(in, NULL, paths, npaths, o);
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

static uint32_t recorder_for(const struct input_options *o)
{
    const struct input_of_traces *of = o->of_traces;
    bool of_waits = of->idle || of->when.region, of_memory = of->ancestors;

    return o->columns && !o->view && !of_waits && !of_memory
               ? RECORDINGSET_ALL
               : load_recorder(o->view, of_waits, of_memory);
}

/* All files of recordings whose first is named. */
static int read_recordings(struct input *in, char *const *paths, size_t npaths,
                           const struct input_options *o)
{
    struct recordingset files;
    int status;

    recordingset_find(&files, paths, npaths, recorder_for(o));
    status = read_chosen(in, files.paths, files.n, o);
    recordingset_release(&files);
    return status;
}

/* The path that a series has of a file: of several traces the first that has the view. */
static char *first_trace(char *path, const struct input_options *o)
{
    struct recordingset all;
    uint32_t n;
    char *first;

    if (trace_file_count(path, &n) || !n)
        return xstrdup(path);
    recordingset_find(&all, &path, 1, load_recorder(o->view, false, false));
    if (all.n > 1)
        flame_warn("%s: has %zu traces, and a series shows the first of them; give it what 'flame "
                   "fold' makes of the file",
                   path, all.n);
    first = xstrdup(all.paths[0]);
    recordingset_release(&all);
    return first;
}

/* In a series each file is a column of its own. */
static int read_series(struct input *in, char *const *paths, size_t npaths,
                       const struct input_options *o)
{
    char **first = xcalloc(npaths, sizeof *first);
    int status;

    for (size_t i = 0; i < npaths; i++)
        first[i] = first_trace(paths[i], o);
    status = read_chosen(in, first, npaths, o);
    for (size_t i = 0; i < npaths; i++)
        free(first[i]);
    free(first);
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
    status = (o->series && o->columns ? read_series : read_recordings)(in, paths, npaths, o);
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
