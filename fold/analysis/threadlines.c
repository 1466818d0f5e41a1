#include "fold/analysis/threadlines.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "fold/analysis/offrow.h"

static struct thread_line *line_at(const struct threadlines *l, uint32_t thread)
{
    return thread && thread < l->t->thread_limit && trace_off_thread_at(l->t, thread)
               ? &l->line[thread]
               : NULL;
}

struct thread_line *threadlines_of(const struct threadlines *l, uint32_t thread)
{
    struct thread_line *line = line_at(l, thread);

    return line && line->end && !line->shared ? line : NULL;
}

/* ---- reading ---- */

/* The thread of each row's first waker, by row; for the caller to free. */
static uint32_t *wakers_of(const struct trace *t)
{
    uint32_t *of = xcalloc((size_t)t->row_limit + 1, sizeof *of), node;

    for (uint32_t id = 0; id < t->row_limit; id++) {
        if (!trace_row_used(&t->rows[id]))
            continue;
        off_sleeper(t, t->rows[id].node, &node);
        of[id] = node ? (uint32_t)trace_node_root(t, node)->addr : 0;
    }
    return of;
}

static void add_wait(struct thread_line *line, const struct trace_interval *i, uint32_t waker)
{
    uint64_t length = i->end_ns - i->begin_ns, runq = i->runq_ns < length ? i->runq_ns : 0;
    int64_t awake = (int64_t)(length - runq - i->ns);

    if (awake > INT32_MAX)
        awake = INT32_MAX;
    if (awake < INT32_MIN)
        awake = INT32_MIN;
    GROW(line->wait, line->nwaits, line->waits_room);
    line->wait[line->nwaits++] = (struct thread_wait){.begin = i->begin_ns,
                                                      .end = i->end_ns,
                                                      .woken = i->end_ns - runq,
                                                      .row = i->row,
                                                      .waker = waker,
                                                      .awake_ns = (int32_t)awake,
                                                      .part = i->kind == TRACE_INTERVAL_PART};
}

static void add_interval(struct threadlines *l, const struct trace_interval *i, uint32_t waker)
{
    const struct trace_off_row *row = &trace_off_rows(l->t)[i->row];
    struct thread_line *line = line_at(l, row->thread);
    bool waits = row->kind < TRACE_OFF_ONCPU;

    if (!line || row->kind == TRACE_OFF_CLASS)
        return;
    if (waits && (i->kind == TRACE_INTERVAL_SLEEP || i->kind == TRACE_INTERVAL_PART)) {
        add_wait(line, i, waker);
        return;
    }
    GROW(line->share, line->nshares, line->shares_room);
    line->share[line->nshares++] = (struct thread_share){.begin = i->begin_ns,
                                                         .end = i->end_ns,
                                                         .ns = i->ns + i->runq_ns,
                                                         .runq_ns = i->runq_ns,
                                                         .row = i->row,
                                                         .sum = waits};
    l->sums |= waits;
}

static int wait_by_begin(const void *pa, const void *pb)
{
    const struct thread_wait *a = pa, *b = pb;

    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end);
}

static int share_by_begin(const void *pa, const void *pb)
{
    const struct thread_share *a = pa, *b = pb;

    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static void extend(struct thread_line *line, uint64_t begin, uint64_t end)
{
    if (!line->end || begin < line->begin)
        line->begin = begin;
    if (end > line->end)
        line->end = end;
}

static void finish_line(struct threadlines *l, struct thread_line *line)
{
    uint64_t last = 0;

    if (line->nwaits) {
        qsort(line->wait, line->nwaits, sizeof *line->wait, wait_by_begin);
        if (!line->lived)
            extend(line, line->wait[0].begin, line->wait[line->nwaits - 1].end);
    }
    if (line->nshares)
        qsort(line->share, line->nshares, sizeof *line->share, share_by_begin);
    for (size_t i = 0; i < line->nshares; i++) {
        if (!line->lived)
            extend(line, line->share[i].begin, line->share[i].end);
        last = line->share[i].end > last ? line->share[i].end : last;
        line->share[i].last = last;
    }
    if (!line->end)
        return;
    l->from_ns = line->begin < l->from_ns ? line->begin : l->from_ns;
    l->to_ns = line->end > l->to_ns ? line->end : l->to_ns;
}

static void read_lives(struct threadlines *l)
{
    for (uint32_t id = 0; id < l->t->thread_limit; id++) {
        const struct trace_off_thread *th = trace_off_thread_at(l->t, id);

        l->line[id].shared = th && th->uses > 1;
    }
    for (size_t i = 0; i < l->t->nlives; i++) {
        struct thread_line *line = line_at(l, l->t->lives[i].thread);

        if (!line || line->shared)
            continue;
        extend(line, l->t->lives[i].begin_ns, l->t->lives[i].end_ns);
        line->lived = true;
        line->parent = l->t->lives[i].parent;
    }
}

/* Whether waits are missing in the trace: it keeps only the last ones, or had no room. */
static bool has_lost(const struct trace *t)
{
    for (size_t i = 0; i < t->nintervals; i++)
        if (t->intervals[i].head.lost_ns)
            return true;
    return false;
}

struct threadlines *threadlines_new(const struct trace *t)
{
    struct threadlines *l = xcalloc(1, sizeof *l);
    struct trace_intervals_reader r;
    struct trace_interval one;
    bool lost = has_lost(t);
    uint32_t *waker;

    l->t = t;
    l->from_ns = UINT64_MAX;
    l->line = xcalloc((size_t)t->thread_limit + 1, sizeof *l->line);
    if (t->header.recorder != TRACE_RECORDER_OFF)
        return l;
    read_lives(l);
    waker = wakers_of(t);
    for (trace_intervals_begin(&r, t); trace_intervals_next(&r, &one);) {
        add_interval(l, &one, waker[one.row]);
        if (lost && (!l->whole_from_ns || one.end_ns < l->whole_from_ns))
            l->whole_from_ns = one.end_ns;
    }
    free(waker);
    for (uint32_t id = 0; id < t->thread_limit; id++)
        finish_line(l, &l->line[id]);
    return l;
}

void threadlines_free(struct threadlines *l)
{
    if (!l)
        return;
    for (uint32_t id = 0; id < l->t->thread_limit; id++) {
        free(l->line[id].wait);
        free(l->line[id].share);
    }
    free(l->line);
    free(l);
}

/* ---- searching ---- */

struct thread_wait *thread_line_last_wait(const struct thread_line *l, uint64_t before)
{
    size_t low = 0, high = l->nwaits;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (l->wait[middle].begin < before)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &l->wait[low - 1] : NULL;
}

/* ---- shares ---- */

/* The part of a share that falls into the time, if it was spread evenly. */
static double part_of(const struct thread_share *s, uint64_t begin, uint64_t end)
{
    uint64_t from = s->begin > begin ? s->begin : begin, to = s->end < end ? s->end : end;

    return to > from ? (double)s->ns * ((double)(to - from) / (double)(s->end - s->begin)) : 0;
}

/* The number of shares that began before the moment. */
static size_t shares_before(const struct thread_line *l, uint64_t before)
{
    size_t low = 0, high = l->nshares;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (l->share[middle].begin < before)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void take_part(const struct thread_share *s, uint64_t ns, thread_share_sink take, void *arg)
{
    uint64_t runq = (uint64_t)((double)ns * ((double)s->runq_ns / (double)s->ns));

    take(arg, s->row, ns, runq < ns ? runq : ns);
}

void thread_line_share_out(const struct thread_line *l, uint64_t begin, uint64_t end,
                           thread_share_sink take, void *arg)
{
    uint64_t length = end - begin, given = 0;
    size_t behind = shares_before(l, end), largest = 0;
    double waits = 0, others = 0, most = 0, of_waits, of_others;

    for (size_t i = behind; i-- > 0 && l->share[i].last > begin;)
        *(l->share[i].sum ? &waits : &others) += part_of(&l->share[i], begin, end);
    if (waits + others <= 0)
        return;
    of_waits = waits > (double)length || others <= 0 ? (double)length / (waits > 0 ? waits : 1) : 1;
    of_others = others > 0 && waits < (double)length ? ((double)length - waits) / others : 0;
    for (size_t i = behind; i-- > 0 && l->share[i].last > begin;) {
        const struct thread_share *s = &l->share[i];
        double part = part_of(s, begin, end) * (s->sum ? of_waits : of_others);
        uint64_t ns = (uint64_t)part;

        if (part > most) {
            most = part;
            largest = i;
        }
        if (ns > length - given)
            ns = length - given;
        given += ns;
        if (ns)
            take_part(s, ns, take, arg);
    }
    if (given < length && most > 0) /* the rest that rounding left */
        take_part(&l->share[largest], length - given, take, arg);
}
