#include "fold/analysis/regiontimes.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/strbuf.h"
#include "common/trace/trace_builder.h"
#include "common/trace/trace_intervals.h"

#define NAMES_REPORTED 8u

/* ---- regions ---- */

static int by_thread(const void *pa, const void *pb)
{
    const struct region_span *a = pa, *b = pb;

    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return (a->end_ns < b->end_ns) - (a->end_ns > b->end_ns);
}

static int by_begin(const void *pa, const void *pb)
{
    const struct region_span *a = pa, *b = pb;

    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return by_thread(a, b);
}

/* Removes spans that lie within others. Returns how many are left. */
static size_t keep_outermost(struct region_span *list, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        struct region_span *last = kept ? &list[kept - 1] : NULL;

        if (!last || last->thread != list[i].thread || list[i].begin_ns >= last->end_ns)
            list[kept++] = list[i];
        else if (list[i].end_ns > last->end_ns)
            last->end_ns = list[i].end_ns;
    }
    return kept;
}

size_t regiontimes_get(const struct trace *t, const char *name, struct region_span **out)
{
    size_t n = 0, room = 0;

    *out = NULL;
    for (size_t i = 0; i < t->nregion_times; i++) {
        const struct trace_region_time *r = &t->region_times[i];
        const struct trace_off_thread *th = trace_off_thread_at(t, r->thread);

        if (!th || th->uses > 1 || strcmp(t->regions[r->region], name) != 0)
            continue;
        GROW(*out, n, room);
        (*out)[n++] = (struct region_span){.begin_ns = r->begin_ns,
                                           .end_ns = r->end_ns,
                                           .thread = r->thread,
                                           .cut = r->flags & TRACE_REGION_CUT};
    }
    if (!n)
        return 0;
    qsort(*out, n, sizeof **out, by_thread);
    n = keep_outermost(*out, n);
    qsort(*out, n, sizeof **out, by_begin);
    return n;
}

bool regiontimes_has(const struct trace *t, const char *name)
{
    struct region_span *list;
    size_t n = regiontimes_get(t, name, &list);

    free(list);
    return n > 0;
}

/* ---- a trace of them ---- */

static void add_names(struct strbuf *sb, const struct trace *t)
{
    size_t reported = 0;

    for (size_t i = 0; i < t->nregions; i++)
        if (regiontimes_has(t, t->regions[i]) && reported++ < NAMES_REPORTED)
            strbuf_addf(sb, "%s'%s'", reported > 1 ? ", " : "", t->regions[i]);
    if (reported > NAMES_REPORTED)
        strbuf_addf(sb, " and %zu more", reported - NAMES_REPORTED);
}

static int refuse(const struct trace *t, const char *name)
{
    struct strbuf sb = STRBUF_INIT;

    if (t->header.recorder != TRACE_RECORDER_OFF)
        return flame_error(FLAME_USAGE,
                           "%s: a trace of memory; --region is for traces of 'flame off'", t->path);
    if (!t->nregion_times)
        return flame_error(
            FLAME_USAGE,
            "%s: --region: no region was seen: the program marks none (flamemem(3)), "
            "or was traced with -p or --no-in-process, where marks are not seen",
            t->path);
    add_names(&sb, t);
    flame_error(FLAME_USAGE, "%s: --region %s: there is no such region, but %s", t->path, name,
                sb.buf ? sb.buf : "of threads that cannot be told apart");
    strbuf_release(&sb);
    return FLAME_USAGE;
}

struct trace_clip *regiontimes_clip(const struct trace *t, const struct region_span *list, size_t n)
{
    struct trace_clip *clip = xcalloc((size_t)t->thread_limit + 1, sizeof *clip);

    for (size_t i = 0; i < n; i++) {
        struct trace_clip *c = &clip[list[i].thread];

        GROW(c->part, c->n, c->room);
        c->part[c->n++] = (struct trace_clip_part){list[i].begin_ns, list[i].end_ns};
    }
    return clip;
}

static void clear_row(struct trace_off_row *r)
{
    r->blocked_ns = r->runq_ns = r->sleeps = r->max_ns = r->cut_ns = r->cpu_ns = r->samples = 0;
}

static void add_to_row(struct trace_off_row *r, const struct trace_interval *i)
{
    if (r->kind == TRACE_OFF_ONCPU) {
        r->cpu_ns += i->ns;
        r->samples += i->times;
    } else {
        r->blocked_ns += i->ns;
        r->sleeps += i->times;
        r->max_ns = i->longest_ns > r->max_ns ? i->longest_ns : r->max_ns;
    }
    r->runq_ns += i->runq_ns;
}

/* Makes the rows count the clipped intervals. */
static void count_anew(struct trace *t)
{
    struct trace_builder grow = trace_builder_begin(t);
    struct trace_intervals_reader r;
    struct trace_interval one;

    for (uint32_t id = 0; id < t->row_limit; id++)
        if (trace_row_used(&t->rows[id]))
            clear_row((struct trace_off_row *)trace_builder_row_at(&grow, id));
    for (trace_intervals_begin_clipped(&r, t, t->clip); trace_intervals_next(&r, &one);)
        add_to_row((struct trace_off_row *)trace_builder_row_at(&grow, one.row), &one);
}

static int refuse_untimed(const struct trace *t, const char *option)
{
    return flame_error(FLAME_USAGE,
                       "%s: --%s: when threads waited is not in the trace; record it with "
                       "'flame off -o x.flame', and not with --lanes off",
                       t->path, option);
}

/* Takes the clip over. */
static void reduce(struct trace *t, struct trace_clip *clip)
{
    trace_clip_free(t->clip, t->thread_limit);
    t->clip = clip;
    if (!t->gaps)
        t->gaps = trace_gaps_new(t);
    count_anew(t);
    t->header.features &= ~TRACE_FEATURE_LATENCY;
}

int regiontimes_apply(struct trace *t, const char *name)
{
    struct region_span *list;
    size_t n = regiontimes_get(t, name, &list);

    if (!n)
        return refuse(t, name);
    if (!t->nintervals) {
        free(list);
        return refuse_untimed(t, "region");
    }
    reduce(t, regiontimes_clip(t, list, n));
    free(list);
    return 0;
}

int regiontimes_apply_range(struct trace *t, uint64_t from_ns, uint64_t to_ns)
{
    struct trace_clip *clip;

    if (t->header.recorder != TRACE_RECORDER_OFF)
        return flame_error(FLAME_USAGE,
                           "%s: a trace of memory; ranges of views of waiting are for traces of "
                           "'flame off'",
                           t->path);
    if (!t->nintervals)
        return refuse_untimed(t, "from");
    clip = xcalloc((size_t)t->thread_limit + 1, sizeof *clip);
    for (uint32_t id = 0; id < t->thread_limit; id++) {
        GROW(clip[id].part, clip[id].n, clip[id].room);
        clip[id].part[clip[id].n++] = (struct trace_clip_part){from_ns, to_ns};
    }
    reduce(t, clip);
    return 0;
}
