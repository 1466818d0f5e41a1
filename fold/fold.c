/*
 * Folding: from rows and nodes to stacks of names.
 *
 * All traces go into one aggregate, view after view: a row becomes an item, its value for the
 * view (row_values.c), an item's node a stack of names (nodestacks.c). The sums of a view are set
 * aside until all views are counted, so that each name is found once however many views there
 * are.
 */
#include "fold/fold.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/folded.h"
#include "common/trace/trace_origins.h"
#include "fold/critical.h"
#include "fold/fold_in_child.h"
#include "fold/lanetext.h"
#include "fold/nodestacks.h"
#include "fold/analysis/offrow.h"
#include "fold/analysis/regiontext.h"
#include "fold/timeline_text.h"
#include "fold/tracesums.h"

void fold_options_for(struct fold_options *opt, const struct filter *f)
{
    opt->tid |= f->by_thread;
    opt->pid |= f->by_process;
    opt->place = filter_places(f);
    opt->symbols.lines |= f->by == PLACE_FILE || f->by == PLACE_LINE;
}

/* The requested view, or the default of the first trace's recorder: if all views are wanted, the
 * requested view may be the other recorder's. */
static const struct view *find_view(const struct fold_options *opt, uint32_t recorder)
{
    const struct view *asked = opt->view ? view_find(opt->view) : NULL;

    if (opt->views)
        return opt->views;
    if (!asked || (opt->all_views && asked->recorder != recorder))
        return views_of(recorder);
    return asked;
}

/* Whether the trace is of page faults. Such a trace is beside the traces of processes and holds
 * nothing else. */
static bool is_of_faults(const struct trace *t)
{
    return t->header.features & TRACE_FEATURE_FAULTS;
}

/* Whether the traces have a view: one of them, if its need says so, else all but those of
 * faults. */
static bool all_have_view(struct trace *const *traces, size_t n, const struct view *view)
{
    size_t have = 0, others = 0;

    for (size_t i = 0; i < n; i++) {
        have += view_is_in(view, traces[i]);
        others += is_of_faults(traces[i]) && !view_is_in(view, traces[i]);
    }
    return view->need && view->need->of_some ? have > 0 : have && have + others == n;
}

bool fold_may_lack(const struct fold_options *opt, const struct trace *t)
{
    const struct view *view = find_view(opt, t->header.recorder);

    return !opt->all_views && view->recorder == t->header.recorder && !view_is_in(view, t) &&
           (view->need->of_some || is_of_faults(t));
}

/* Whether the view is empty because no process did what it counts; if all views are wanted, it is
 * left out. Of an attached process it was not recorded. */
static bool is_just_empty(struct trace *const *traces, size_t n, const struct view *view)
{
    if (!view->need || !view->need->may_be_empty)
        return false;
    for (size_t i = 0; i < n; i++)
        if (traces[i]->header.features & TRACE_FEATURE_ATTACHED ||
            !(traces[i]->header.features & TRACE_FEATURE_PEAK))
            return false;
    return true;
}

static int check_fits(const struct fold_options *opt, const struct trace *t,
                      const struct view *view)
{
    const char *what = t->header.recorder == TRACE_RECORDER_MEM ? "memory" : "waiting";
    struct strbuf list = STRBUF_INIT;

    if (t->header.recorder != view->recorder) {
        view_list(&list, t->header.recorder);
        flame_error(FLAME_USAGE, "%s: a trace of %s; there is no view '%s' of it, but %s", t->path,
                    what, view->name, list.buf);
        strbuf_release(&list);
        return FLAME_USAGE;
    }
    if (opt->idle && t->header.recorder != TRACE_RECORDER_OFF)
        return flame_error(FLAME_USAGE, "%s: a trace of %s; --idle is for traces of 'flame off'",
                           t->path, what);
    if (opt->ancestors && t->header.recorder != TRACE_RECORDER_MEM)
        return flame_error(FLAME_USAGE,
                           "%s: a trace of %s; --ancestors is for traces of 'flame mem'", t->path,
                           what);
    return age_limits_fit(&opt->ages, t);
}

/* The coarsest sampling among the traces; 0: all are exact. */
static uint64_t sample_of(struct trace *const *traces, size_t n)
{
    uint64_t most = 0;

    for (size_t i = 0; i < n; i++)
        if (traces[i]->header.sample_bytes > most)
            most = traces[i]->header.sample_bytes;
    return most;
}

/* One view's sums, until all are known. */
struct counted {
    const struct view *view;
    uint64_t *sums;
    size_t n;
};

/* Converts sums to the view's unit: rounded once for each stack, so that the errors of rows do
 * not add up. */
static void scale_sums(struct counted *c)
{
    uint64_t scale = c->view->scale;

    for (size_t i = 0; scale > 1 && i < c->n; i++)
        if ((int64_t)c->sums[i] > 0)
            c->sums[i] = (c->sums[i] + scale / 2) / scale;
}

/* Inputs and results of one fold. */
struct folding {
    const struct fold_options *opt;
    struct trace *const *traces;
    size_t ntraces;
    struct symbolizer **frames; /* of each trace */
    struct idle **idle;         /* of each trace; NULLs unless idle sleeps are left out */
    struct threadlines **lines; /* of each trace; NULLs unless a view needs them */
    struct chainsplit **split;  /* of each trace; NULLs unless a view shows chains */
    struct excludes *excludes;
    struct aggregate *to;
    struct critical *critical; /* NULL: no view is of the critical path */
};

static void count_view(struct folding *f, struct counted *c, struct filter_report *left_out)
{
    bool is_chain = c->view->shape == VIEW_CHAIN;

    for (size_t i = 0; i < f->ntraces; i++) {
        struct row_value_options io = {.view = c->view,
                                       .tid = f->opt->tid,
                                       .own = f->opt->own,
                                       .comms = f->opt->comms,
                                       .ncomms = f->opt->ncomms,
                                       .idle = f->idle[i],
                                       .split = is_chain ? f->split[i] : NULL,
                                       .left_out = left_out};
        struct nodestack_options no = {
            .shape = c->view->shape, .split = io.split, .pid = f->opt->pid, .tid = f->opt->tid};
        struct row_values items = row_values_collect(f->traces[i], &io);

        nodestacks_add(f->traces[i], f->frames[i], &items, &no);
        free(items.item);
    }
    left_out->exclude += aggregate_exclude(f->to, excludes_match, f->excludes);
    c->sums = aggregate_take_sums(f->to, &c->n);
    scale_sums(c);
}

/* The part of the heading that the texts of all views share. */
struct heading {
    uint64_t sample; /* 0: counts are exact */
    bool in_bytes;   /* lifetimes are in bytes, see age_limits_in_bytes */
    struct missing_symbols lost;
};

static bool has_modules(const struct fold_options *opt)
{
    return opt->modules && !opt->place;
}

static void write_view(const struct fold_options *opt, const struct heading *heading,
                       struct aggregate *to, const struct counted *c,
                       const struct critical *critical, aggregate_sink sink, void *opaque)
{
    uint64_t sample = heading->sample;
    struct strbuf sb = STRBUF_INIT;
    size_t negative;

    if (!opt->no_header) {
        strbuf_addf(&sb, "# flame: view=%s unit=%s", c->view->name, c->view->unit);
        fold_when_add(opt->when, &sb);
        /* This is not last: a number at the end would make the line a stack to other readers. */
        if (sample)
            strbuf_addf(&sb, " sample=%" PRIu64 " estimates=yes", sample);
        age_limits_add_limit(&sb, c->view->name, heading->in_bytes);
        strbuf_addch(&sb, '\n');
        if (has_modules(opt))
            strbuf_addstr(&sb, "# flame: " FOLDED_MODULES "=" FOLDED_MODULES_MARKED "\n");
        missing_symbols_add_lines(&heading->lost, &sb);
        sink(opaque, sb.buf, sb.len);
        strbuf_release(&sb);
    }
    if (critical && c->view->of_path && !opt->no_header)
        critical_write(critical, sink, opaque);
    aggregate_put_sums(to, c->sums, c->n);
    negative = aggregate_write(to, sink, opaque);
    if (opt->quiet)
        return;
    if (negative && opt->when && opt->when->from.given)
        flame_warn(
            "%zu %s less at the end than at the beginning, and %s left out; 'flame diff' with "
            "the same --from and --to shows both",
            negative, negative == 1 ? "stack had" : "stacks had", negative == 1 ? "is" : "are");
    else if (negative && c->view->recorder == TRACE_RECORDER_MEM)
        flame_warn("%zu stacks left out whose sum is below zero: more was freed than allocated "
                   "there, as far as this trace knows",
                   negative);
    else if (negative)
        flame_warn("%zu stacks left out whose times no clock could have measured", negative);
}

/* Chooses the requested views that all traces have. Returns their number. */
static size_t choose_views(const struct folding *f, struct counted *chosen)
{
    uint32_t recorder = f->ntraces ? f->traces[0]->header.recorder : TRACE_RECORDER_MEM;
    const struct view *asked = find_view(f->opt, recorder);
    const struct view *all = f->opt->views ? f->opt->views : views_of(asked->recorder);
    size_t n = 0;

    for (const struct view *v = all; v->name; v++) {
        if (v != asked && !f->opt->all_views && !f->opt->views)
            continue;
        /* A view that is requested by name is written, even if it is empty. */
        if (all_have_view(f->traces, f->ntraces, v) || (v == asked && !f->opt->all_views))
            chosen[n++] = (struct counted){.view = v};
    }
    return n;
}

/* Proposes --idle where most of the off-CPU time may be that of threads that only wait for work. */
static void propose_idle(const struct folding *f, const struct filter_report *all)
{
    struct filter_report idle = FILTER_REPORT_INIT;

    for (size_t i = 0; i < f->ntraces; i++) {
        struct idle *of = idle_new(f->traces[i], f->frames[i]);

        idle.idle_threads += idle_threads(of, &idle.idle_names);
        idle.idle += idle_slept(of);
        idle_free(of);
    }
    idle.total = all->total;
    filter_report_propose_idle(&idle);
    filter_report_release(&idle);
}

static enum place_kind place_of(const struct fold_options *opt)
{
    return has_modules(opt) ? PLACE_MODULE : opt->place;
}

static void open_traces(struct folding *f, struct symbols *syms, struct filter_report *left_out)
{
    for (size_t i = 0; i < f->ntraces; i++) {
        const struct trace *t = f->traces[i];

        if (t->missing_rows && !f->opt->quiet)
            flame_warn("%s: copied while the program ran; %" PRIu32
                       " rows of counters are left out",
                       t->path, t->missing_rows);
        symbols_use_names(syms, t->names);
        f->frames[i] = symbolizer_new(t, syms, f->to, place_of(f->opt));
        if (!f->opt->idle)
            continue;
        f->idle[i] = idle_new(t, f->frames[i]);
        left_out->idle_threads += idle_threads(f->idle[i], &left_out->idle_names);
    }
}

static void write_moments(const struct folding *f, aggregate_sink sink, void *opaque)
{
    const struct timeline_text_input in = {.opt = f->opt,
                                           .traces = f->traces,
                                           .frames = f->frames,
                                           .ntraces = f->ntraces,
                                           .excludes = f->excludes,
                                           .to = f->to};

    timeline_text_write(&in, sink, opaque);
}

static void write_lanes(const struct folding *f, const struct counted *counted, size_t n,
                        aggregate_sink sink, void *opaque)
{
    const struct view *views[VIEWS_MAX];
    struct lanetext_input in = {.opt = f->opt,
                                .traces = f->traces,
                                .frames = f->frames,
                                .idle = f->idle,
                                .split = f->split,
                                .ntraces = f->ntraces,
                                .views = views,
                                .excludes = f->excludes,
                                .to = f->to,
                                .most_bytes = f->opt->lane_bytes};

    for (size_t i = 0; i < n; i++)
        if (!counted[i].view->of_path)
            views[in.nviews++] = counted[i].view;
    lanetext_write(&in, sink, opaque);
}

static uint32_t waited_for(void *arg, const struct trace *t, uint32_t row)
{
    return critical_frame(t, arg, row);
}

static void add_frame(void *arg, struct strbuf *sb, uint32_t frame)
{
    size_t len;
    const char *text = aggregate_frame_text(symbolizer_aggregate(arg), frame, &len);

    strbuf_add(sb, text, len);
}

static void add_safe(void *arg, struct strbuf *sb, const char *s)
{
    add_frame(arg, sb, aggregate_frame(symbolizer_aggregate(arg), s, strlen(s)));
}

/* Writes the lengths of regions, for traces of waiting. */
static void write_regions(const struct folding *f, aggregate_sink sink, void *opaque)
{
    struct strbuf sb = STRBUF_INIT;

    for (size_t i = 0; i < f->ntraces; i++) {
        const struct regiontext_names names = {
            .arg = f->frames[i], .waited = waited_for, .add = add_frame, .add_safe = add_safe};

        regiontext_add(&sb, f->traces[i], &names, f->opt->when ? f->opt->when->region : NULL);
    }
    if (sb.len)
        sink(opaque, sb.buf, sb.len);
    strbuf_release(&sb);
}

/* Finds the critical paths if a view needs them. False, after a line, if the requested path does
 * not exist. */
static bool find_critical(struct folding *f, const struct counted *counted, size_t n)
{
    bool wanted = false;

    for (size_t i = 0; i < n; i++)
        wanted = wanted || counted[i].view->of_path;
    if (wanted)
        f->critical =
            critical_new(f->lines, f->frames, f->ntraces, f->opt->when, !f->opt->all_views);
    return !wanted || f->critical;
}

/* By node, the stack with its names, for the nodes of sleepers and first wakers. */
static uint32_t *looks_of(const struct folding *f, size_t trace)
{
    const struct trace *t = f->traces[trace];
    uint32_t *looks = xcalloc((size_t)t->node_limit + 1, sizeof *looks), waker;
    struct nodestack_options no = {.shape = VIEW_STACK, .pid = f->opt->pid, .tid = f->opt->tid};
    struct row_values items = {NULL, 0};
    size_t room = 0;

    for (uint32_t id = 0; id < t->row_limit; id++) {
        uint32_t node = trace_row_used(&t->rows[id]) ? off_sleeper(t, t->rows[id].node, &waker) : 0;

        for (unsigned k = 0; node && k < 2; k++, node = waker) {
            if (looks[node]++)
                continue;
            GROW(items.item, items.n, room);
            items.item[items.n++] = (struct row_value){
                .node = node, .thread = (uint32_t)trace_node_root(t, node)->addr};
        }
    }
    row_values_sort(&items);
    no.stacks = xcalloc(items.n + 1, sizeof *no.stacks);
    nodestacks_add(t, f->frames[trace], &items, &no);
    for (size_t i = 0; i < items.n; i++)
        looks[items.item[i].node] = no.stacks[i];
    free(no.stacks);
    free(items.item);
    return looks;
}

static struct chainsplit *split_waits(const struct folding *f, size_t trace)
{
    uint32_t *looks = looks_of(f, trace);
    struct chainsplit *split = chainsplit_new(f->lines[trace], looks);

    free(looks);
    return split;
}

/* Makes what views of time need: each thread's waits in order, and the waits split. */
static void order_waits(struct folding *f, const struct counted *counted, size_t n)
{
    bool path = false, chain = false;

    for (size_t i = 0; i < n; i++) {
        path = path || counted[i].view->of_path;
        chain = chain || counted[i].view->shape == VIEW_CHAIN;
    }
    for (size_t i = 0; i < f->ntraces && (path || chain); i++) {
        f->lines[i] = threadlines_new(f->traces[i]);
        if (chain && f->traces[i]->nintervals)
            f->split[i] = split_waits(f, i);
        if (f->split[i] && f->split[i]->unsplit && !f->opt->quiet)
            flame_warn("%s: too many waits: %" PRIu64 " are not split over what their wakers did "
                       "meanwhile; --from and --to take a part",
                       f->traces[i]->path, f->split[i]->unsplit);
    }
}

/* Folds traces and views that are known to fit. */
static int fold_now(const struct fold_options *opt, struct trace *const *traces, size_t ntraces,
                    aggregate_sink sink, void *opaque)
{
    struct folding f = {.opt = opt, .traces = traces, .ntraces = ntraces};
    struct filter_report left_out = FILTER_REPORT_INIT, others = FILTER_REPORT_INIT;
    struct symbols *syms = symbols_new(&opt->symbols);
    struct heading heading = {.sample = sample_of(traces, ntraces)};
    struct counted counted[VIEWS_MAX];
    size_t n = choose_views(&f, counted);
    int status = 0;

    age_limits_use(&opt->ages);
    for (size_t i = 0; i < ntraces && !heading.in_bytes; i++)
        heading.in_bytes = age_limits_in_bytes(traces[i]);
    f.excludes = excludes_new(opt->excludes, opt->nexcludes);
    f.frames = xcalloc(ntraces, sizeof(struct symbolizer *));
    f.idle = xcalloc(ntraces, sizeof(struct idle *));
    f.lines = xcalloc(ntraces, sizeof(struct threadlines *));
    f.split = xcalloc(ntraces, sizeof(struct chainsplit *));
    f.to = aggregate_new();
    open_traces(&f, syms, &left_out);
    order_waits(&f, counted, n);
    if (!find_critical(&f, counted, n))
        n = 0, status = FLAME_USAGE;
    for (size_t v = 0; v < n; v++)
        count_view(&f, &counted[v], v == 0 ? &left_out : &others);
    symbols_add_lost(syms, &heading.lost);
    if (!opt->quiet) {
        symbols_say_lost(syms);
        symbols_say_unread(syms);
    }
    if (!opt->quiet && !opt->no_hint)
        symbols_say_unnamed(syms);
    for (size_t v = 0; v < n; v++) {
        if (v == 0 && !opt->no_header)
            write_regions(&f, sink, opaque);
        write_view(opt, &heading, f.to, &counted[v], f.critical, sink, opaque);
        free(counted[v].sums);
    }
    if (n && opt->moments) {
        write_moments(&f, sink, opaque);
        write_lanes(&f, counted, n, sink, opaque);
    }
    if (n && opt->propose_idle && !opt->idle)
        propose_idle(&f, &left_out);
    if (n && !opt->quiet)
        filter_report_print(&left_out, counted[0].view->unit, counted[0].view->scale);
    for (size_t i = 0; i < ntraces; i++) {
        symbolizer_free(f.frames[i]);
        idle_free(f.idle[i]);
    }
    critical_free(f.critical);
    for (size_t i = 0; i < ntraces; i++) {
        chainsplit_free(f.split[i]);
        threadlines_free(f.lines[i]);
    }
    free(f.frames);
    free(f.idle);
    free(f.lines);
    free(f.split);
    excludes_free(f.excludes);
    filter_report_release(&left_out);
    missing_symbols_release(&heading.lost);
    symbols_free(syms);
    aggregate_free(f.to);
    return status;
}

int fold_loaded_to(const struct fold_options *opt, struct trace *const *traces, size_t ntraces,
                   aggregate_sink sink, void *opaque)
{
    const struct view *view =
        find_view(opt, ntraces ? traces[0]->header.recorder : TRACE_RECORDER_MEM);
    struct trace_origins *origins;
    struct excludes *excludes;

    for (size_t i = 0; i < ntraces; i++) {
        int err = check_fits(opt, traces[i], view);

        if (err)
            return err;
    }
    if (!opt->all_views && !all_have_view(traces, ntraces, view) &&
        !is_just_empty(traces, ntraces, view))
        return flame_error(FLAME_USAGE, "%s: recorded without %s; choose another view",
                           traces[0]->path, view->need->lack);
    excludes = excludes_new(opt->excludes, opt->nexcludes);
    if (!excludes)
        return FLAME_USAGE;
    excludes_free(excludes);
    origins = trace_origins_new();
    for (size_t i = 0; i < ntraces && !opt->own; i++)
        trace_inherit_and_warn(traces[i], origins, opt->quiet);
    trace_origins_free(origins);
    if (opt->symbols.no_inline && !opt->symbols.lines)
        return fold_now(opt, traces, ntraces, sink, opaque);
    return fold_in_child(opt, traces, ntraces, sink, opaque, fold_now);
}

int fold_loaded(const struct fold_options *opt, struct trace *const *traces, size_t ntraces,
                struct strbuf *out)
{
    size_t before = out->len;
    int err = fold_loaded_to(opt, traces, ntraces, aggregate_to_strbuf, out);

    if (err)
        strbuf_setlen(out, before);
    return err;
}
