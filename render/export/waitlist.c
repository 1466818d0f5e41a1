/*
 * Rows first, then intervals, which are sorted by thread and begin. Then each single wait gets the
 * time of its waking call: the moment since which the sleeper was runnable.
 *
 * The tracer sees that moment in the sleeper, and the waking call some microseconds earlier in the
 * waker, which may be asleep again by then. So the call is put at the last moment at which the
 * waker was awake, or, if there is none in the wait, at the first one after. Viewers infer who
 * wakes from who runs, and their order of events at one nanosecond is not defined: no wake is at
 * the same time as the begin or end of a wait of either thread.
 */
#define _GNU_SOURCE
#include "render/export/waitlist.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/trace/varint_base64.h"
#include "common/trace_format.h"

#define STACKS "off"
#define STACKS_WITH_WAKERS "offwake"
#define LATEST_NS ((uint64_t)1 << 62) /* what is later makes no sense */

/* ---- rows and threads ---- */

static void read_by_row(struct waitlist *w, struct lanes_span span,
                        void (*set)(struct waitlist_row *row, uint32_t v))
{
    struct varint_reader r;
    uint64_t v;

    varint_read(&r, w->lanes->text.buf + span.at, span.len);
    for (uint64_t i = 0; i < w->lanes->nrows && varint_take(&r, &v); i++)
        set(&w->rows[i], (uint32_t)v);
}

static void set_thread(struct waitlist_row *row, uint32_t v)
{
    row->thread = v;
}

static void set_kind(struct waitlist_row *row, uint32_t v)
{
    row->kind = v;
}

static void set_waker(struct waitlist_row *row, uint32_t v)
{
    row->waker = v;
}

/* The view whose stacks the waits get: "off" if it is there, else one whose stacks have rows. */
static const char *view_of_stacks(const struct lanes *l)
{
    for (size_t i = 0; i < l->nstacks; i++)
        if (strcmp(l->stacks[i].view, STACKS) == 0)
            return STACKS;
    for (size_t i = 0; i < l->nstacks; i++)
        if (!lanes_view_has_links(l, l->stacks[i].view))
            return l->stacks[i].view;
    return STACKS;
}

static void place_rows(struct waitlist *w)
{
    const struct lanes *l = w->lanes;
    const char *view = view_of_stacks(l);

    for (size_t i = 0; i < l->nstacks; i++) {
        const struct lanes_stack *s = &l->stacks[i];
        bool stack = strcmp(s->view, view) == 0, waker = strcmp(s->view, STACKS_WITH_WAKERS) == 0;

        for (size_t k = s->first; k < s->first + s->n && s->node < w->t->n; k++) {
            if (stack)
                w->rows[l->rows[k]].node = s->node;
            if (waker && !w->reverse)
                w->rows[l->rows[k]].wake_node = s->node;
        }
    }
}

static void read_rows(struct waitlist *w)
{
    const struct lanes *l = w->lanes;

    w->rows = xcalloc(l->nrows + 1, sizeof *w->rows);
    for (uint64_t i = 0; i < l->nrows; i++)
        w->rows[i].node = w->rows[i].wake_node = FRAMETREE_NONE;
    read_by_row(w, l->thread, set_thread);
    read_by_row(w, l->kind, set_kind);
    read_by_row(w, l->waker, set_waker);
    place_rows(w);
}

static void read_threads(struct waitlist *w)
{
    const struct lanes *l = w->lanes;

    w->threads = xcalloc(l->nthreads + 1, sizeof *w->threads);
    for (size_t i = 0; i < l->nthreads; i++) {
        const struct lanes_thread *t = &l->threads[i];
        bool good = t->pid && t->pid <= INT32_MAX && t->tid && t->tid <= INT32_MAX;

        w->threads[i] = (struct waitlist_thread){.begin_ns = UINT64_MAX,
                                                 .pid = good ? (uint32_t)t->pid : 0,
                                                 .tid = good ? (uint32_t)t->tid : 0};
    }
}

/* ---- intervals ---- */

static int64_t unfolded(uint64_t v)
{
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

/* Reads the next interval of a thread's list; *now is the begin of the one before. The text is
 * checked when it is read, but for the parts of the length. */
static bool take_interval(struct varint_reader *r, uint64_t *now, struct waitlist_wait *out)
{
    uint64_t row, later, length, rest, runq;
    int64_t ns;

    if (!varint_take(r, &row) || !varint_take(r, &later) || !varint_take(r, &length) ||
        !varint_take(r, &rest) || !varint_take(r, &runq))
        return false;
    *now += later;
    ns = (int64_t)length - unfolded(rest) - (int64_t)runq;
    *out = (struct waitlist_wait){.begin_ns = *now,
                                  .end_ns = *now + length,
                                  .ns = ns > 0 ? (uint64_t)ns : 0,
                                  .runq_ns = runq,
                                  .times = 1,
                                  .row = (uint32_t)(row >> 2),
                                  .kind = row & 3};
    out->longest_ns = out->ns;
    return out->kind < TRACE_INTERVAL_SHARE ||
           (varint_take(r, &out->times) && varint_take(r, &out->longest_ns));
}

/* Reads the intervals of one list; returns the number of waits with the new ones. */
static size_t read_list(struct waitlist *w, const struct lanes_waits *list, size_t *room)
{
    struct waitlist_thread *t = &w->threads[list->thread];
    struct waitlist_wait one;
    struct varint_reader r;
    uint64_t now = 0;
    size_t n = w->n;

    varint_read(&r, w->lanes->text.buf + list->data.at, list->data.len);
    while (take_interval(&r, &now, &one)) {
        if (w->rows[one.row].thread != list->thread || one.end_ns > LATEST_NS)
            continue;
        if (one.begin_ns < t->begin_ns)
            t->begin_ns = one.begin_ns;
        if (one.end_ns > t->end_ns)
            t->end_ns = one.end_ns;
        if (one.kind == TRACE_INTERVAL_SHARE)
            continue;
        GROW(w->waits, n, *room);
        w->waits[n++] = one;
    }
    return n;
}

static int by_thread(const void *pa, const void *pb, void *arg)
{
    const struct waitlist *w = arg;
    const struct waitlist_wait *a = pa, *b = pb;
    uint32_t x = w->rows[a->row].thread, y = w->rows[b->row].thread;

    if (x != y)
        return x < y ? -1 : 1;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    if (a->end_ns != b->end_ns)
        return a->end_ns < b->end_ns ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* Counts the waits, and finds those that no earlier wait of the thread overlaps. */
static void divide(struct waitlist *w)
{
    uint64_t upto = 0;
    size_t last = 0;

    for (size_t i = 0; i < w->n; i++) {
        struct waitlist_wait *one = &w->waits[i];
        struct waitlist_thread *t = &w->threads[w->rows[one->row].thread];

        if (t->n++ == 0) {
            t->first = i;
            upto = last = 0;
        }
        one->last_alone = last;
        if (one->kind == TRACE_INTERVAL_SUM) {
            w->summed += one->times;
            continue;
        }
        w->single += one->kind == TRACE_INTERVAL_SLEEP;
        one->alone = one->begin_ns >= upto && one->end_ns > one->begin_ns;
        if (one->alone) {
            upto = one->end_ns;
            one->last_alone = last = i + 1;
        }
    }
}

/* ---- wakes ---- */

/* The last wait of a thread that is alone and begins at `at` or before; NULL: there is none. */
static const struct waitlist_wait *find_alone(const struct waitlist *w,
                                              const struct waitlist_thread *t, uint64_t at)
{
    size_t lo = 0, hi = t->n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (w->waits[t->first + mid].begin_ns > at)
            hi = mid;
        else
            lo = mid + 1;
    }
    lo = lo ? w->waits[t->first + lo - 1].last_alone : 0;
    return lo ? &w->waits[lo - 1] : NULL;
}

/* The last moment up to `at` at which a thread was awake, and was also awake just before; 0: none
 * after `after`. A thread that ends wakes others after its last interval. */
static uint64_t awake_at(const struct waitlist *w, const struct waitlist_thread *t, uint64_t after,
                         uint64_t at)
{
    const struct waitlist_wait *before;

    if (at >= t->end_ns)
        at = t->end_ns - (t->end_ns > 0);
    before = find_alone(w, t, at);
    if (before && at <= before->end_ns) {
        if (before->begin_ns <= after)
            return 0;
        at = before->begin_ns - 1;
        before = find_alone(w, t, at);
    }
    return at > after && at > t->begin_ns && (!before || at > before->end_ns) ? at : 0;
}

/* The first moment after `at` at which a thread was awake, and was also awake just before; 0: none
 * before `end`. A new process wakes its parent, whose wait for a CPU may have begun earlier. */
static uint64_t awake_after(const struct waitlist *w, const struct waitlist_thread *t, uint64_t at,
                            uint64_t end)
{
    const struct waitlist_wait *before;

    if (at < t->begin_ns)
        at = t->begin_ns;
    before = find_alone(w, t, at);
    if (before && before->end_ns > at)
        at = before->end_ns;
    at++;
    return at < end && at < t->end_ns && find_alone(w, t, at) == before ? at : 0;
}

static void place_wakes(struct waitlist *w)
{
    for (size_t i = 0; i < w->n; i++) {
        struct waitlist_wait *one = &w->waits[i];
        uint32_t waker = w->rows[one->row].waker;
        uint64_t at = one->end_ns - one->runq_ns;

        if (!waker || one->kind != TRACE_INTERVAL_SLEEP || !one->alone ||
            one->runq_ns > one->end_ns - one->begin_ns)
            continue;
        at -= one->runq_ns == 0;
        one->wake_ns = awake_at(w, &w->threads[waker - 1], one->begin_ns, at);
        if (!one->wake_ns)
            one->wake_ns = awake_after(w, &w->threads[waker - 1], at, one->end_ns);
        w->unplaced += one->wake_ns == 0;
    }
}

/* ---- all ---- */

bool waitlist_init(struct waitlist *w, const struct frametree *t, const struct lanes *l,
                   bool reverse)
{
    size_t room = 0;

    if (!lanes_any(l))
        return false;
    *w = (struct waitlist){.lanes = l, .t = t, .reverse = reverse};
    read_rows(w);
    read_threads(w);
    for (size_t i = 0; i < l->nwaits; i++)
        w->n = read_list(w, &l->waits[i], &room);
    if (w->n)
        qsort_r(w->waits, w->n, sizeof *w->waits, by_thread, w);
    divide(w);
    place_wakes(w);
    return true;
}

void waitlist_release(struct waitlist *w)
{
    free(w->rows);
    free(w->threads);
    free(w->waits);
    *w = (struct waitlist){0};
}

bool waitlist_any(const struct waitlist *w)
{
    for (size_t i = 0; i < w->n; i++)
        if (waitlist_row(w, &w->waits[i])->node != FRAMETREE_NONE)
            return true;
    return false;
}

const struct frametree_name *waitlist_leaf(const struct waitlist *w, uint32_t node)
{
    while (w->reverse && node && w->t->nodes[node].parent)
        node = w->t->nodes[node].parent;
    return frametree_name(w->t, node);
}

bool waitlist_is_border(const struct waitlist *w, uint32_t node)
{
    const struct frametree_name *name = frametree_name(w->t, node);

    return name->len == 2 && memcmp(name->s, "--", 2) == 0;
}

const struct frametree_name *waitlist_waking_call(const struct waitlist *w, uint32_t wake_node)
{
    for (uint32_t node = wake_node, last = 0; node != FRAMETREE_NONE && node;
         last = node, node = w->t->nodes[node].parent)
        if (waitlist_is_border(w, node))
            return last ? frametree_name(w->t, last) : NULL;
    return NULL;
}

void waitlist_report(const struct waitlist *w, const char *format)
{
    if (w->summed)
        flame_warn("%s: of %" PRIu64 " waits %" PRIu64 " are known only as sums of short ones, "
                   "which are shown beside the others; record fewer, or with more --lanes",
                   format, w->single + w->summed, w->summed);
    if (w->lanes->lost_ns)
        flame_warn("%s: waits of %.3f s in all had no room in the recording and are left out; "
                   "record with more --lanes",
                   format, (double)w->lanes->lost_ns / 1e9);
    if (w->unplaced)
        flame_warn("%s: wakes left out: %" PRIu64
                   ", as their wakers were asleep by their own times",
                   format, w->unplaced);
}
