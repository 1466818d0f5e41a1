/*
 * An interval is five numbers of 7 bits a byte (trace_put_number), and two more where it is of
 * several waits: the row with the kind, how much later it ends than the one before, its length, the
 * part of the length that was neither blocked nor in the run queue, and the run-queue wait. That is
 * 10 to 12 bytes where a struct has 56.
 */
#include "common/trace/trace_intervals.h"

#include <stdlib.h>

#include "common/hash.h"
#include "common/alloc.h"

#define KIND_BITS 2
#define KIND_MASK ((1u << KIND_BITS) - 1)

static bool has_sums(uint32_t kind)
{
    return kind == TRACE_INTERVAL_SHARE || kind == TRACE_INTERVAL_SUM;
}

uint8_t *trace_interval_put(uint8_t *at, const struct trace_interval *i, uint64_t *before)
{
    uint64_t length = i->end_ns - i->begin_ns;

    at = trace_put_number(at, (uint64_t)i->row << KIND_BITS | i->kind);
    at = trace_put_number(at, trace_fold_sign(i->end_ns - *before));
    at = trace_put_number(at, length);
    at = trace_put_number(at, trace_fold_sign(length - i->ns - i->runq_ns));
    at = trace_put_number(at, i->runq_ns);
    if (has_sums(i->kind)) {
        at = trace_put_number(at, i->times);
        at = trace_put_number(at, i->longest_ns);
    }
    *before = i->end_ns;
    return at;
}

bool trace_interval_take(const uint8_t **at, const uint8_t *end, struct trace_interval *out,
                         uint64_t *before)
{
    uint64_t row, later, length, rest;

    if (!trace_take_number(at, end, &row) || !trace_take_number(at, end, &later) ||
        !trace_take_number(at, end, &length) || !trace_take_number(at, end, &rest) ||
        !trace_take_number(at, end, &out->runq_ns) || row >> KIND_BITS > UINT32_MAX)
        return false;
    out->kind = (uint32_t)row & KIND_MASK;
    out->row = (uint32_t)(row >> KIND_BITS);
    out->end_ns = *before + trace_unfold_sign(later);
    if (length > out->end_ns)
        return false;
    out->begin_ns = out->end_ns - length;
    out->ns = length - trace_unfold_sign(rest) - out->runq_ns;
    out->times = out->kind == TRACE_INTERVAL_SLEEP;
    out->longest_ns = out->ns;
    if (has_sums(out->kind) &&
        (!trace_take_number(at, end, &out->times) || !trace_take_number(at, end, &out->longest_ns)))
        return false;
    *before = out->end_ns;
    return true;
}

/* ---- intervals of a trace ---- */

void trace_intervals_begin(struct trace_intervals_reader *r, const struct trace *t)
{
    *r = (struct trace_intervals_reader){.t = t};
}

void trace_intervals_begin_clipped(struct trace_intervals_reader *r, const struct trace *t,
                                   const struct trace_clip *clip)
{
    trace_intervals_begin(r, t);
    r->clip = clip;
}

static bool next_whole(struct trace_intervals_reader *r, struct trace_interval *out)
{
    const struct trace *t = r->t;

    for (;;) {
        while (r->at < r->end) {
            if (!trace_interval_take(&r->at, r->end, out, &r->before))
                return false; /* cannot be: the reader has validated the entries */
            if (out->row < t->row_limit && trace_row_used(&t->rows[out->row]))
                return true;
        }
        if (r->next == t->nintervals)
            return false;
        r->at = t->intervals[r->next].entries;
        r->end = r->at + t->intervals[r->next].head.bytes;
        r->before = t->intervals[r->next++].head.base_ns;
    }
}

/* ---- gaps between sleeps ---- */

struct trace_gaps {
    struct thread_sleeps {
        struct asleep {
            uint64_t begin_ns, end_ns;
            uint64_t before_ns; /* asleep before it */
        } * list;               /* by begin_ns, and apart from one another */
        size_t n, room;
    } * thread;
    uint32_t threads;
};

static int by_begin(const void *pa, const void *pb)
{
    const struct asleep *a = pa, *b = pb;

    return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

/* Sorts the list, joins sleeps that overlap, and adds them up. */
static void arrange(struct thread_sleeps *s)
{
    size_t kept = 0;

    if (s->n)
        qsort(s->list, s->n, sizeof *s->list, by_begin);
    for (size_t i = 0; i < s->n; i++) {
        struct asleep *last = kept ? &s->list[kept - 1] : NULL;

        if (last && s->list[i].begin_ns < last->end_ns) {
            if (s->list[i].end_ns > last->end_ns)
                last->end_ns = s->list[i].end_ns;
            continue;
        }
        s->list[kept] = s->list[i];
        s->list[kept++].before_ns = last ? last->before_ns + last->end_ns - last->begin_ns : 0;
    }
    s->n = kept;
}

struct trace_gaps *trace_gaps_new(const struct trace *t)
{
    struct trace_gaps *g = xcalloc(1, sizeof *g);
    struct trace_intervals_reader r;
    struct trace_interval i;

    g->threads = t->thread_limit;
    g->thread = xcalloc((size_t)g->threads + 1, sizeof *g->thread);
    for (trace_intervals_begin(&r, t); trace_intervals_next(&r, &i);) {
        uint32_t id = trace_off_rows(t)[i.row].thread;
        struct thread_sleeps *s = id < g->threads ? &g->thread[id] : NULL;

        if (!s || (i.kind != TRACE_INTERVAL_SLEEP && i.kind != TRACE_INTERVAL_PART))
            continue;
        GROW(s->list, s->n, s->room);
        s->list[s->n++] = (struct asleep){.begin_ns = i.begin_ns, .end_ns = i.end_ns};
    }
    for (uint32_t id = 0; id < g->threads; id++)
        arrange(&g->thread[id]);
    return g;
}

void trace_gaps_free(struct trace_gaps *g)
{
    if (!g)
        return;
    for (uint32_t id = 0; id < g->threads; id++)
        free(g->thread[id].list);
    free(g->thread);
    free(g);
}

/* Time before `ns` for which the thread was asleep. */
static uint64_t asleep_until(const struct thread_sleeps *s, uint64_t ns)
{
    size_t low = 0, high = s->n;
    const struct asleep *last;

    while (low < high) { /* number of sleeps that begin before `ns` */
        size_t middle = low + (high - low) / 2;

        if (s->list[middle].begin_ns < ns)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return 0;
    last = &s->list[low - 1];
    return last->before_ns + (ns < last->end_ns ? ns : last->end_ns) - last->begin_ns;
}

uint64_t trace_gaps_between(const struct trace_gaps *g, uint32_t thread, uint64_t begin_ns,
                            uint64_t end_ns)
{
    const struct thread_sleeps *s;

    if (thread >= g->threads || begin_ns >= end_ns)
        return begin_ns < end_ns ? end_ns - begin_ns : 0;
    s = &g->thread[thread];
    return end_ns - begin_ns - (asleep_until(s, end_ns) - asleep_until(s, begin_ns));
}

/* ---- parts of the time ---- */

static uint64_t overlap(uint64_t begin, uint64_t end, const struct trace_clip_part *p)
{
    uint64_t from = begin > p->begin_ns ? begin : p->begin_ns,
             to = end < p->end_ns ? end : p->end_ns;

    return to > from ? to - from : 0;
}

static uint64_t scaled(uint64_t n, uint64_t part, uint64_t whole)
{
    return whole ? (uint64_t)((double)n * ((double)part / (double)whole) + 0.5) : n;
}

/* A wait is first blocked and then in the run queue; the time of other intervals is taken to be
 * spread evenly over the time, or, of shares, over the gaps between the thread's sleeps. */
static struct trace_interval clipped(const struct trace *t, const struct trace_interval *i,
                                     const struct trace_clip_part *p, bool last)
{
    struct trace_interval c = *i;
    uint64_t length = i->end_ns - i->begin_ns, part = overlap(i->begin_ns, i->end_ns, p), gaps;
    uint32_t thread = trace_off_rows(t)[i->row].thread;
    bool single = !has_sums(i->kind);

    c.begin_ns = i->begin_ns > p->begin_ns ? i->begin_ns : p->begin_ns;
    c.end_ns = c.begin_ns + part;
    if (i->kind == TRACE_INTERVAL_SHARE && t->gaps &&
        (gaps = trace_gaps_between(t->gaps, thread, i->begin_ns, i->end_ns)) > 0) {
        length = gaps;
        part = trace_gaps_between(t->gaps, thread, c.begin_ns, c.end_ns);
    }
    if (single && i->ns + i->runq_ns <= length) {
        c.runq_ns = overlap(i->end_ns - i->runq_ns, i->end_ns, p);
        c.ns = scaled(i->ns, part - c.runq_ns, length - i->runq_ns);
    } else {
        c.runq_ns = scaled(i->runq_ns, part, length);
        c.ns = scaled(i->ns, part, length);
        c.times = i->times && !single ? scaled(i->times, part, length) : i->times;
    }
    if (i->kind == TRACE_INTERVAL_SUM && !c.times)
        c.times = 1;
    if (i->kind == TRACE_INTERVAL_SLEEP && !last)
        c.kind = TRACE_INTERVAL_PART, c.times = 0;
    c.longest_ns = i->longest_ns < c.ns ? i->longest_ns : c.ns;
    return c;
}

/* The first part of the list that ends after the time. */
static size_t first_part(const struct trace_clip *c, uint64_t ns)
{
    size_t low = 0, high = c->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (c->part[middle].end_ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool trace_intervals_next(struct trace_intervals_reader *r, struct trace_interval *out)
{
    const struct trace_off_row *rows = trace_off_rows(r->t);

    if (!r->clip)
        return next_whole(r, out);
    for (;;) {
        const struct trace_clip *c;
        bool last;

        if (!r->has_cut) {
            if (!next_whole(r, &r->cut))
                return false;
            if (rows[r->cut.row].thread >= r->t->thread_limit)
                continue;
            r->has_cut = true;
            r->part = first_part(&r->clip[rows[r->cut.row].thread], r->cut.begin_ns);
        }
        c = &r->clip[rows[r->cut.row].thread];
        if (r->part >= c->n || c->part[r->part].begin_ns >= r->cut.end_ns) {
            r->has_cut = false;
            continue;
        }
        last = r->part + 1 >= c->n || c->part[r->part + 1].begin_ns >= r->cut.end_ns;
        *out = clipped(r->t, &r->cut, &c->part[r->part++], last);
        r->has_cut = !last;
        return true;
    }
}

/* ---- merging ---- */

static int by_end(const void *pa, const void *pb)
{
    const struct trace_interval *a = pa, *b = pb;

    if (a->end_ns != b->end_ns)
        return a->end_ns < b->end_ns ? -1 : 1;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static void sort(struct trace_interval *list, size_t n)
{
    bool sorted = true;

    for (size_t i = 1; i < n && sorted; i++)
        sorted = by_end(&list[i - 1], &list[i]) <= 0;
    if (!sorted)
        qsort(list, n, sizeof *list, by_end);
}

static bool goes_into_sum(const struct trace_interval *i, uint64_t short_ns)
{
    uint64_t length = i->end_ns - i->begin_ns;

    return (i->kind == TRACE_INTERVAL_SUM ? i->longest_ns : length) < short_ns;
}

static void add(struct trace_interval *to, const struct trace_interval *i)
{
    if (i->begin_ns < to->begin_ns)
        to->begin_ns = i->begin_ns;
    if (i->end_ns > to->end_ns)
        to->end_ns = i->end_ns;
    if (i->longest_ns > to->longest_ns)
        to->longest_ns = i->longest_ns;
    to->ns += i->ns;
    to->runq_ns += i->runq_ns;
    to->times += i->times;
    if (to->kind != TRACE_INTERVAL_SHARE)
        to->kind = TRACE_INTERVAL_SUM;
}

struct slot {
    uint64_t window;
    uint32_t row, kept; /* index of the interval plus one; 0: free */
    bool share;
};

static struct slot *slot_of(struct slot *slots, size_t mask, const struct trace_interval *i,
                            uint64_t window)
{
    bool share = i->kind == TRACE_INTERVAL_SHARE;
    uint64_t h = (window * HASH_GOLDEN ^ i->row) * HASH_GOLDEN;

    for (size_t at = (h >> 32 ^ h) & mask;; at = (at + 1) & mask) {
        struct slot *s = &slots[at];

        if (!s->kept || (s->window == window && s->row == i->row && s->share == share)) {
            s->window = window;
            s->row = i->row;
            s->share = share;
            return s;
        }
    }
}

size_t trace_intervals_merge(struct trace_interval *list, size_t n, uint64_t short_ns,
                             uint64_t window_ns)
{
    size_t size = 16, kept = 0;
    struct slot *slots;

    while (size < n * 2)
        size *= 2;
    slots = xcalloc(size, sizeof *slots);
    for (size_t i = 0; i < n; i++) {
        struct slot *s = NULL;

        if (goes_into_sum(&list[i], short_ns))
            s = slot_of(slots, size - 1, &list[i], list[i].end_ns / window_ns);
        if (s && s->kept) {
            add(&list[s->kept - 1], &list[i]);
            continue;
        }
        list[kept++] = list[i];
        if (s)
            s->kept = (uint32_t)kept;
    }
    free(slots);
    sort(list, kept);
    return kept;
}
