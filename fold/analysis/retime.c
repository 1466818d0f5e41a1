/*
 * Problem: the critical path without some waits is a lower bound of a run's length, but often far
 * below it, as another chain of threads takes its place.
 *
 * Algorithm: the waits of all threads are replayed in the order of their ends. For each the new end
 * is known from the new time at which its thread reaches it, and from the new time of the moment at
 * which its waker ended it, which is earlier and therefore known. A thread's new time differs from
 * the old one by a shift that changes at the ends of its waits only; the shift behind each wait is
 * stored, and any moment is found by bisection. Waits that are known as sums are evenly spread over
 * the time in which the thread ran.
 *
 * Rejected: taking the maximum over the paths to the ends of all threads, found backwards. Of two
 * chains that meet in a wait such a path follows only the one that was longer before.
 */
#include "fold/analysis/retime.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "fold/analysis/offrow.h"

/* A thread that ended by itself did so long before the end. Others are ended with their process,
 * one after another. */
#define LONG_BEFORE_NS 20000000u
#define DEPTH_MAX 64u /* threads that sleep at the range's end, each until the next wakes it */

struct one {
    uint32_t thread, wait;
    uint64_t end_ns;
};

struct retime {
    const struct trace *t;
    const struct critpath *walker;
    struct critpath_life *life; /* by thread; end_ns 0: paths cannot go there */
    size_t *first;              /* by thread: where its waits begin in `shift` */
    uint64_t *shift;            /* by wait: how much sooner its end comes */
    struct one *order;          /* waits by their ends */
    size_t n;
    bool *sums; /* by thread: waits with a `part` below 1 are among its sums; NULL: none are */
    /* The run. */
    const double *part;
    const struct critpath_range *range;
    uint64_t steps;
};

static int by_end(const void *pa, const void *pb)
{
    const struct one *a = pa, *b = pb;

    if (a->end_ns != b->end_ns)
        return a->end_ns < b->end_ns ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return (a->wait > b->wait) - (a->wait < b->wait);
}

struct retime *retime_new(const struct trace *t, const struct critpath *walker)
{
    struct retime *r = xcalloc(1, sizeof *r);

    r->t = t;
    r->walker = walker;
    r->life = xcalloc((size_t)t->thread_limit + 1, sizeof *r->life);
    r->first = xcalloc((size_t)t->thread_limit + 1, sizeof *r->first);
    for (uint32_t id = 0; id < t->thread_limit; id++) {
        r->first[id] = r->n;
        if (critpath_life(walker, id, &r->life[id]))
            r->n += r->life[id].nwaits;
        else
            r->life[id] = (struct critpath_life){.end_ns = 0};
    }
    r->shift = xcalloc(r->n + 1, sizeof *r->shift);
    r->order = xcalloc(r->n + 1, sizeof *r->order);
    for (uint32_t id = 0; id < t->thread_limit; id++)
        for (size_t i = 0; i < r->life[id].nwaits; i++)
            r->order[r->first[id] + i] = (struct one){
                .thread = id, .wait = (uint32_t)i, .end_ns = critpath_wait(walker, id, i).end_ns};
    qsort(r->order, r->n, sizeof *r->order, by_end);
    return r;
}

void retime_free(struct retime *r)
{
    if (!r)
        return;
    free(r->life);
    free(r->first);
    free(r->shift);
    free(r->order);
    free(r->sums);
    free(r);
}

/* ---- waits that are sums ---- */

static void find_sums(struct retime *r)
{
    free(r->sums);
    r->sums = NULL;
    if (!critpath_has_sums(r->walker))
        return;
    r->sums = xcalloc((size_t)r->t->thread_limit + 1, sizeof *r->sums);
    for (uint32_t id = 0; id < r->t->row_limit; id++) {
        const struct trace_off_row *row = off_row(&r->t->rows[id]);

        if (trace_row_used(&r->t->rows[id]) && row->thread < r->t->thread_limit && r->part[id] < 1)
            r->sums[row->thread] = true;
    }
}

struct saved {
    const struct retime *r;
    double ns;
};

static void add_saved(void *arg, uint32_t row, uint64_t ns, uint64_t runq_ns)
{
    struct saved *s = arg;

    (void)runq_ns;
    if (s->r->part[row] < 1)
        s->ns += (double)ns * (1 - s->r->part[row]);
}

/* By how much the thread's running from one moment to another is shorter. */
static uint64_t saved_between(struct retime *r, uint32_t thread, uint64_t begin, uint64_t end)
{
    const struct critpath_step ran = {
        .kind = CRITPATH_RAN, .thread = thread, .begin_ns = begin, .end_ns = end};
    struct saved s = {.r = r};

    if (!r->sums || !r->sums[thread] || begin >= end)
        return 0;
    critpath_share_out(r->walker, &ran, add_saved, &s);
    return s.ns < (double)(end - begin) ? (uint64_t)s.ns : end - begin;
}

/* ---- shifts ---- */

/*
 * How much sooner the thread reaches a moment; one in a sleep is reached when it falls asleep. A
 * moment before its life is one of the thread that created it. Parents begin earlier, so this ends.
 */
static uint64_t shift_at(struct retime *r, uint32_t thread, uint64_t moment)
{
    uint64_t saved = 0;

    for (;;) {
        const struct critpath_life *life = &r->life[thread];
        size_t n = critpath_waits_before(r->walker, thread, moment);
        struct critpath_wait last;

        r->steps -= r->steps > 0;
        if (moment <= r->range->from_ns)
            return saved;
        if (n && (last = critpath_wait(r->walker, thread, n - 1)).end_ns > moment)
            n--;
        if (n && (last = critpath_wait(r->walker, thread, n - 1)).end_ns > r->range->from_ns)
            return saved + r->shift[r->first[thread] + n - 1] +
                   saved_between(r, thread, last.end_ns, moment);
        if (life->begin_ns <= r->range->from_ns)
            return saved + saved_between(r, thread, r->range->from_ns, moment);
        saved += saved_between(r, thread, life->begin_ns, moment);
        if (!life->parent)
            return saved;
        moment = life->begin_ns;
        thread = life->parent;
    }
}

/* The moment at which the waker ended the wait, on its own time. False: it is not known. */
static bool find_wake(const struct retime *r, const struct critpath_wait *w, uint64_t *moment)
{
    const struct critpath_life *waker = &r->life[w->waker];
    size_t n;

    if (!w->waker || !waker->end_ns || w->woken_ns <= waker->begin_ns ||
        waker->end_ns <= w->begin_ns)
        return false;
    *moment = w->woken_ns < waker->end_ns ? w->woken_ns : waker->end_ns;
    n = critpath_waits_before(r->walker, w->waker, *moment);
    if (n) {
        struct critpath_wait its = critpath_wait(r->walker, w->waker, n - 1);

        if (its.end_ns > *moment && its.begin_ns <= w->begin_ns)
            return false; /* it slept all the time */
    }
    return *moment > r->range->from_ns;
}

/* How much sooner the wait's end comes. Its thread reaches it `sooner`. */
static uint64_t shift_behind(struct retime *r, const struct critpath_wait *w, uint64_t sooner)
{
    uint64_t begin = w->begin_ns > r->range->from_ns ? w->begin_ns : r->range->from_ns, moment,
             woken;
    double part = r->part[w->row];

    if (w->end_ns <= begin)
        return sooner;
    if (part < 1)
        return sooner + (uint64_t)((double)(w->end_ns - begin) * (1 - part));
    if (!find_wake(r, w, &moment))
        return sooner;
    woken = w->woken_ns - shift_at(r, w->waker, moment);
    if (woken <= begin - sooner) /* it need not wait */
        return sooner + (w->end_ns - begin);
    return w->woken_ns - woken;
}

/* ---- the run ---- */

static size_t first_behind(const struct retime *r, uint64_t moment)
{
    size_t low = 0, high = r->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (r->order[middle].end_ns <= moment)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/*
 * How much sooner the thread reaches the range's end. If it sleeps then, it reaches it with the
 * thread that will wake it, as the critical path does.
 */
static uint64_t shift_of_end(struct retime *r, uint32_t thread, unsigned depth)
{
    uint64_t to = r->range->to_ns, from = r->range->from_ns, begin, sooner, coming;
    size_t n = critpath_waits_before(r->walker, thread, to);
    const struct critpath_life *waker;
    struct critpath_wait w;

    if (!n || (w = critpath_wait(r->walker, thread, n - 1)).end_ns <= to)
        return shift_at(r, thread, to);
    begin = w.begin_ns > from ? w.begin_ns : from;
    sooner = shift_at(r, thread, w.begin_ns);
    waker = &r->life[w.waker];
    if (r->part[w.row] >= 1 && w.waker && w.woken_ns > to && waker->begin_ns < to &&
        waker->end_ns >= to && depth < DEPTH_MAX) {
        coming = shift_of_end(r, w.waker, depth + 1);
        return to - coming <= begin - sooner ? sooner + (to - begin) : coming;
    }
    w.end_ns = to;
    w.woken_ns = w.woken_ns < to ? w.woken_ns : to;
    return shift_behind(r, &w, sooner);
}

bool retime_run(struct retime *r, const struct critpath_range *range, const double *part,
                uint64_t *steps, struct retime_end *end)
{
    uint64_t length = range->to_ns - range->from_ns;

    if (r->part != part) {
        r->part = part;
        find_sums(r);
    }
    r->range = range;
    r->steps = *steps;
    for (size_t i = first_behind(r, range->from_ns);
         r->steps && i < r->n && r->order[i].end_ns <= range->to_ns; i++) {
        const struct one *o = &r->order[i];
        struct critpath_wait w = critpath_wait(r->walker, o->thread, o->wait);
        uint64_t sooner = shift_at(r, o->thread, w.begin_ns);

        r->shift[r->first[o->thread] + o->wait] = shift_behind(r, &w, sooner);
    }
    *steps = r->steps;
    if (!r->steps)
        return false;
    *end = (struct retime_end){.gain_ns = shift_of_end(r, range->thread, 0)};
    end->gain_ns = end->gain_ns < length ? end->gain_ns : length;
    return true;
}

bool retime_last(struct retime *r, struct retime_end *end)
{
    uint64_t to = r->range->to_ns, last_ns = to - end->gain_ns;

    end->last = 0;
    for (uint32_t id = 1; id < r->t->thread_limit; id++) {
        uint64_t its = r->life[id].end_ns, sooner;

        if (its <= r->range->from_ns || its + LONG_BEFORE_NS >= to)
            continue;
        sooner = shift_at(r, id, its);
        if (its - (sooner < its ? sooner : its) <= last_ns)
            continue;
        last_ns = its - sooner;
        end->last = id;
        end->last_gain_ns = to - last_ns;
    }
    return end->last != 0;
}
