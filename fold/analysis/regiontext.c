#include "fold/analysis/regiontext.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/trace/trace_intervals.h"
#include "fold/analysis/regiontimes.h"

#define BEGINS "# region: "
#define NAME " name=\""

/* ---- writing ---- */

struct region {
    const char *name;
    struct region_span *span;
    size_t n;
    uint64_t sum;
};

static uint64_t length_of(const struct region_span *s)
{
    return s->end_ns - s->begin_ns;
}

static int by_length(const void *pa, const void *pb)
{
    const struct region_span *a = pa, *b = pb;
    uint64_t x = length_of(a), y = length_of(b);

    if (a->cut != b->cut)
        return a->cut ? 1 : -1; /* behind the others */
    if (x != y)
        return x < y ? -1 : 1;
    return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

static int by_begin(const void *pa, const void *pb)
{
    const struct region_span *a = pa, *b = pb;

    return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

static int by_sum(const void *pa, const void *pb)
{
    const struct region *a = pa, *b = pb;

    if (a->sum != b->sum)
        return a->sum < b->sum ? 1 : -1;
    return strcmp(a->name, b->name);
}

/* Index of the percentile among n > 0 sorted lengths, by nearest rank. */
static size_t rank(size_t n, unsigned percent)
{
    return (n * percent + 99) / 100 - 1;
}

static void add_quoted(struct strbuf *sb, const struct regiontext_names *names, const char *s)
{
    strbuf_addstr(sb, NAME);
    names->add_safe(names->arg, sb, s);
    strbuf_addstr(sb, "\"\n");
}

/* The thread of the first waker, whose link is the lowest; 0: no waker is known. */
static uint32_t waker_of(const struct trace *t, uint32_t node)
{
    uint32_t waker = 0;

    for (; t->nodes[node].kind == TRACE_NODE_WAKER; node = t->nodes[node].parent)
        waker = (uint32_t)t->nodes[node].addr;
    return waker ? (uint32_t)trace_node_root(t, waker)->addr : 0;
}

static void add_waker(struct strbuf *sb, const struct trace *t,
                      const struct regiontext_names *names, const uint64_t *of_row,
                      const uint32_t *frame_of, uint32_t thing)
{
    uint64_t *of = xcalloc((size_t)t->thread_limit + 1, sizeof *of);
    uint32_t best = 0, waker;

    for (uint32_t id = 0; id < t->row_limit; id++) {
        if (!of_row[id] || frame_of[id] != thing)
            continue;
        waker = waker_of(t, t->rows[id].node);
        if (!waker || !trace_off_thread_at(t, waker))
            continue;
        of[waker] += of_row[id];
        best = of[waker] > of[best] ? waker : best;
    }
    if (best) {
        const struct trace_off_thread *th = trace_off_thread_at(t, best);
        char comm[sizeof th->comm + 1] = "";

        memcpy(comm, th->comm, strnlen(th->comm, sizeof th->comm));
        strbuf_addf(sb, BEGINS "held ns=%" PRIu64, of[best]);
        add_quoted(sb, names, comm);
    }
    free(of);
}

static void add_most(struct strbuf *sb, const struct trace *t, const struct regiontext_names *names,
                     const uint64_t *of_row, uint64_t all, size_t n)
{
    uint32_t *frame_of = xcalloc((size_t)t->row_limit + 1, sizeof *frame_of), best = 0;
    uint64_t *of_frame = NULL;
    size_t room = 0;

    for (uint32_t id = 0; id < t->row_limit; id++) {
        if (!of_row[id])
            continue;
        frame_of[id] = names->waited(names->arg, t, id);
        GROW_FILLED(of_frame, frame_of[id], room, 0);
        GROW_FILLED(of_frame, best, room, 0);
        of_frame[frame_of[id]] += of_row[id];
        if (of_frame[frame_of[id]] > of_frame[best])
            best = frame_of[id];
    }
    if (of_frame && of_frame[best]) {
        strbuf_addf(sb, BEGINS "slow times=%zu length=%" PRIu64 " waited=%" PRIu64 NAME, n, all,
                    of_frame[best]);
        names->add(names->arg, sb, best);
        strbuf_addstr(sb, "\"\n");
        add_waker(sb, t, names, of_row, frame_of, best);
    }
    free(frame_of);
    free(of_frame);
}

/* Appends what the slowest regions waited for most, and which thread ended these waits. */
static void add_slow(struct strbuf *sb, const struct trace *t, const struct regiontext_names *names,
                     struct region_span *slow, size_t n)
{
    uint64_t *of_row = xcalloc((size_t)t->row_limit + 1, sizeof *of_row), all = 0;
    struct trace_intervals_reader r;
    struct trace_interval one;
    const struct trace_off_row *rows = trace_off_rows(t);
    struct trace_clip *clip;

    qsort(slow, n, sizeof *slow, by_begin);
    clip = regiontimes_clip(t, slow, n);
    for (size_t i = 0; i < n; i++)
        all += length_of(&slow[i]);
    for (trace_intervals_begin_clipped(&r, t, clip); trace_intervals_next(&r, &one);)
        if (rows[one.row].kind < TRACE_OFF_ONCPU)
            of_row[one.row] += one.ns + one.runq_ns;
    add_most(sb, t, names, of_row, all, n);
    trace_clip_free(clip, t->thread_limit);
    free(of_row);
}

static void add_region(struct strbuf *sb, const struct trace *t,
                       const struct regiontext_names *names, const struct region *r)
{
    size_t whole = 0, p99;

    qsort(r->span, r->n, sizeof *r->span, by_length);
    while (whole < r->n && !r->span[whole].cut)
        whole++;
    strbuf_addf(sb, BEGINS "times=%zu cut=%zu sum=%" PRIu64, r->n, r->n - whole, r->sum);
    if (whole) {
        p99 = rank(whole, 99);
        strbuf_addf(sb, " p50=%" PRIu64 " p95=%" PRIu64 " p99=%" PRIu64 " max=%" PRIu64,
                    length_of(&r->span[rank(whole, 50)]), length_of(&r->span[rank(whole, 95)]),
                    length_of(&r->span[p99]), length_of(&r->span[whole - 1]));
    }
    add_quoted(sb, names, r->name);
    if (whole)
        add_slow(sb, t, names, r->span + p99, whole - p99);
}

void regiontext_add(struct strbuf *sb, const struct trace *t, const struct regiontext_names *names,
                    const char *name)
{
    struct region *list = xcalloc(t->nregions + 1, sizeof *list);
    size_t n = 0;

    for (size_t i = 0; t->nregion_times && i < t->nregions; i++) {
        struct region r = {.name = t->regions[i]};

        if (name && strcmp(name, r.name) != 0)
            continue;
        r.n = regiontimes_get(t, r.name, &r.span);
        for (size_t k = 0; k < r.n; k++)
            r.sum += length_of(&r.span[k]);
        if (r.n)
            list[n++] = r;
    }
    if (n)
        qsort(list, n, sizeof *list, by_sum);
    for (size_t i = 0; i < n; i++) {
        if (i < REGIONTEXT_MOST)
            add_region(sb, t, names, &list[i]);
        free(list[i].span);
    }
    if (t->lost_regions)
        strbuf_addf(sb, BEGINS "lost times=%" PRIu64 NAME "\"\n", t->lost_regions);
    free(list);
}
