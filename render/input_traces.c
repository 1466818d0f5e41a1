/*
 * input_traces.c: traces into the tree. A trace is folded to text, which is read like any other.
 * Parts of recordings are joined before, and traces of memory with the same views are folded
 * together.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/trace/trace_moments.h"
#include "fold/fold.h"
#include "fold/lanetext.h"
#include "fold/load.h"
#include "fold/tracesums.h"
#include "fold/viewtable.h"
#include "render/input_impl.h"

struct tracepool {
    uint64_t has; /* a bit for each view that the traces have */
    struct fold_options options;
    struct view views[VIEWS_MAX + 1]; /* options.views is NULL or this */
    struct tracesums *sums;
    char *name; /* of the first trace */
};

static uint64_t views_in(const struct trace *t)
{
    uint64_t has = 0, bit = 1;

    for (const struct view *v = views_of(TRACE_RECORDER_MEM); v->name; v++, bit <<= 1)
        has |= view_is_in(v, t) ? bit : 0;
    return has;
}

/* Folds of the same views have the same columns beside them, as these depend on the traces' views
 * alone. */
static struct tracepool *find_pool(struct tracepools *p, uint64_t has)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->pool[i]->has == has)
            return p->pool[i];
    return NULL;
}

static struct tracepool *make_pool(struct tracepools *p, uint64_t has, const char *name,
                                   const struct fold_options *options)
{
    struct tracepool *pool = xcalloc(1, sizeof *pool);
    size_t n = 0;

    pool->has = has;
    pool->name = xstrdup(name);
    pool->options = *options;
    pool->options.no_hint = false;
    if (options->views) {
        while (options->views[n].name)
            n++;
        memcpy(pool->views, options->views, (n + 1) * sizeof *pool->views);
        pool->options.views = pool->views;
    }
    pool->sums = tracesums_new(&pool->options);
    GROW(p->pool, p->n, p->room);
    p->pool[p->n++] = pool;
    return pool;
}

/* Takes over a trace of memory. `options` and its views are copied; what they point to otherwise is
 * borrowed. */
static int add_to_pool(struct tracepools *p, struct trace *t, const struct fold_options *options)
{
    uint64_t has = views_in(t);
    struct tracepool *pool = find_pool(p, has);

    if (!pool)
        pool = make_pool(p, has, t->path, options);
    return tracesums_add(pool->sums, t);
}

void input_release_pools(struct tracepools *p)
{
    for (size_t i = 0; i < p->n; i++) {
        tracesums_free(p->pool[i]->sums);
        free(p->pool[i]->name);
        free(p->pool[i]);
    }
    free(p->pool);
    *p = (struct tracepools){.n = 0};
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

/* Folds a trace of memory with others later. Moments and lanes are of one trace. */
static bool is_for_pool(const struct reader *r, const struct trace *t,
                        const struct fold_options *options)
{
    return r->pools && r->several && !r->lacked && t->header.recorder == TRACE_RECORDER_MEM &&
           !t->nmoments && !t->timeline && !fold_when_given(options->when);
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
    if (!status && is_for_pool(r, trace, &options))
        return add_to_pool(r->pools, trace, &options);
    if (status)
        trace_free(trace);
    else
        status = fold_alone(&options, trace, r->lacked, &text);
    if (!status && !r->lacked) {
        textinput_memory(&in, r->name, &text);
        status = input_read_text(r, &in);
        textinput_close(&in);
    }
    strbuf_release(&text);
    return status;
}

int input_read_trace(struct reader *r, struct textinput *in, const char *path)
{
    struct trace *trace = NULL;
    bool is_part = false;
    int status = load_one_trace(in, path, r->several, &trace);

    if (!status && !trace) {
        r->unread = true;
        return 0;
    }
    if (!status && r->timed && trace->header.traces > 1 && !in->is_part)
        flame_warn("%s: has %" PRIu32 " traces, and a series shows the first of them; give it what "
                   "'flame fold' makes of the file",
                   path, trace->header.traces);
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

int input_read_parts(struct input *in, const struct reading *all, struct trace_parts *parts)
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

/* Folds a pool, and reads the text. */
static int read_pool(struct input *in, const struct reading *all, struct tracepool *pool)
{
    struct reader r = {.in = in,
                       .name = pool->name,
                       .o = all->o,
                       .columns = all->o->columns || pool->options.views,
                       .lines = all->lines,
                       .stack = STRBUF_INIT};
    struct strbuf text = STRBUF_INIT;
    struct trace *const *traces;
    struct textinput from;
    size_t n;
    int status;

    frametree_use_column(&in->tree, 0);
    timeline_begin(&in->timeline);
    traces = tracesums_get(pool->sums, &n);
    status = fold_loaded(&pool->options, traces, n, &text);
    if (!status) {
        textinput_memory(&from, r.name, &text);
        status = input_read_text(&r, &from);
        textinput_close(&from);
    }
    strbuf_release(&text);
    strbuf_release(&r.stack);
    return status;
}

int input_read_pools(struct input *in, const struct reading *all)
{
    int status = 0;

    for (size_t i = 0; !status && i < all->pools->n; i++)
        status = read_pool(in, all, all->pools->pool[i]);
    return status;
}
