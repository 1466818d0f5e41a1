/*
 * Problem: which waits made a run so long, when most waits of a program wait for others, which
 * wait for others?
 *
 * Algorithm: each thread has a line of its waits, sorted by their begins, and one of its shares.
 * A walk is at a moment of a thread's line, finds the last wait that had begun before (by
 * bisection), and goes to its end, to its waker, or to its begin. It ends, as every step goes
 * back in time except those to a waker, of which there is one for each wait.
 *
 * A waker's call and the moment its sleeper could run again are some microseconds apart, so the
 * waker may be asleep again by then. It was awake when it woke the other, so the path goes to
 * the beginning of that later sleep.
 *
 * Rejected: walking in the tracer while it runs, with a list of segments for each thread that
 * wakers share: a path of millions of segments has to be cut there, before the requested range
 * is known. What intervals have lost (short waits as sums) is little of a path.
 */
#include "fold/analysis/critpath.h"

#include <stdlib.h>

#include "common/alloc.h"

/* A thread that ends so much later than the main thread has continued alone. Smaller differences
 * are the process's end, which ends threads one by one. */
#define OUTLIVES_NS 20000000u

struct wait {
    uint64_t begin, end, woken;
    uint32_t row, waker; /* 0: no thread to which the path can go */
    uint32_t seen;       /* the number of the walk that went to its waker */
    bool part;           /* another wait continues it; the waker allowed that one to begin */
};

struct share {
    uint64_t begin, end, ns;
    uint64_t last; /* the latest end up to here */
    uint32_t row;
    bool sum; /* of short waits; else a share of the stretch */
};

struct line {
    struct wait *wait;
    size_t nwaits, waits_room;
    struct share *share;
    size_t nshares, shares_room;
    uint64_t begin, end; /* end 0: the thread has no known times */
    bool lived;          /* they are those of its life */
    uint32_t parent;
    bool shared; /* a record of several threads */
};

struct critpath {
    const struct trace *t;
    struct line *line; /* by thread */
    uint64_t from, to; /* of the recording */
    uint32_t walks;
    bool sums;
};

bool critpath_is_known(const struct trace *t)
{
    return t->header.recorder == TRACE_RECORDER_OFF && t->nintervals && t->nlives;
}

/* ---- lines ---- */

static struct line *line_of(const struct critpath *c, uint32_t thread)
{
    return thread && thread < c->t->thread_limit && trace_off_thread_at(c->t, thread)
               ? &c->line[thread]
               : NULL;
}

/* The thread of the first waker, whose link is the lowest. */
static uint32_t waker_of(const struct trace *t, uint32_t node)
{
    uint32_t waker = 0;

    for (; t->nodes[node].kind == TRACE_NODE_WAKER; node = t->nodes[node].parent)
        waker = (uint32_t)t->nodes[node].addr;
    return waker ? (uint32_t)trace_node_root(t, waker)->addr : 0;
}

static void add_interval(struct critpath *c, const struct trace_interval *i)
{
    const struct trace_off_row *row = &trace_off_rows(c->t)[i->row];
    struct line *l = line_of(c, row->thread);
    bool waits = row->kind < TRACE_OFF_ONCPU;

    if (!l || row->kind == TRACE_OFF_CLASS)
        return;
    if (waits && (i->kind == TRACE_INTERVAL_SLEEP || i->kind == TRACE_INTERVAL_PART)) {
        uint64_t runq = i->runq_ns < i->end_ns - i->begin_ns ? i->runq_ns : 0;

        GROW(l->wait, l->nwaits, l->waits_room);
        l->wait[l->nwaits++] = (struct wait){.begin = i->begin_ns,
                                             .end = i->end_ns,
                                             .woken = i->end_ns - runq,
                                             .row = i->row,
                                             .waker = waker_of(c->t, row->node),
                                             .part = i->kind == TRACE_INTERVAL_PART};
    } else {
        GROW(l->share, l->nshares, l->shares_room);
        l->share[l->nshares++] = (struct share){.begin = i->begin_ns,
                                                .end = i->end_ns,
                                                .ns = i->ns + i->runq_ns,
                                                .row = i->row,
                                                .sum = waits};
        c->sums |= waits;
    }
}

static int wait_by_begin(const void *pa, const void *pb)
{
    const struct wait *a = pa, *b = pb;

    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end);
}

static int share_by_begin(const void *pa, const void *pb)
{
    const struct share *a = pa, *b = pb;

    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static void extend(struct line *l, uint64_t begin, uint64_t end)
{
    if (!l->end || begin < l->begin)
        l->begin = begin;
    if (end > l->end)
        l->end = end;
}

static void finish_line(struct critpath *c, struct line *l)
{
    uint64_t last = 0;

    if (l->nwaits) {
        qsort(l->wait, l->nwaits, sizeof *l->wait, wait_by_begin);
        if (!l->lived)
            extend(l, l->wait[0].begin, l->wait[l->nwaits - 1].end);
    }
    if (l->nshares)
        qsort(l->share, l->nshares, sizeof *l->share, share_by_begin);
    for (size_t i = 0; i < l->nshares; i++) {
        if (!l->lived)
            extend(l, l->share[i].begin, l->share[i].end);
        last = l->share[i].end > last ? l->share[i].end : last;
        l->share[i].last = last;
    }
    if (!l->end)
        return;
    c->from = l->begin < c->from ? l->begin : c->from;
    c->to = l->end > c->to ? l->end : c->to;
}

struct critpath *critpath_new(const struct trace *t)
{
    struct critpath *c = xcalloc(1, sizeof *c);
    struct trace_intervals_reader r;
    struct trace_interval one;

    c->t = t;
    c->from = UINT64_MAX;
    c->line = xcalloc((size_t)t->thread_limit + 1, sizeof *c->line);
    for (uint32_t id = 0; id < t->thread_limit; id++) {
        const struct trace_off_thread *th = trace_off_thread_at(t, id);

        c->line[id].shared = th && th->uses > 1;
    }
    for (size_t i = 0; i < t->nlives; i++) {
        struct line *l = line_of(c, t->lives[i].thread);

        if (!l || l->shared)
            continue;
        extend(l, t->lives[i].begin_ns, t->lives[i].end_ns);
        l->lived = true;
        l->parent = t->lives[i].parent;
    }
    for (trace_intervals_begin(&r, t); trace_intervals_next(&r, &one);)
        add_interval(c, &one);
    for (uint32_t id = 0; id < t->thread_limit; id++)
        finish_line(c, &c->line[id]);
    return c;
}

void critpath_free(struct critpath *c)
{
    if (!c)
        return;
    for (uint32_t id = 0; id < c->t->thread_limit; id++) {
        free(c->line[id].wait);
        free(c->line[id].share);
    }
    free(c->line);
    free(c);
}

bool critpath_has_sums(const struct critpath *c)
{
    return c->sums;
}

/* Whether the path can go there. */
static bool can_follow(const struct critpath *c, uint32_t thread)
{
    const struct line *l = line_of(c, thread);

    return l && l->end && !l->shared;
}

/* ---- the requested range ---- */

/* The process that was attached to. A command's trace has no such number in its header: then it
 * is the process of the thread that was there first. */
static uint32_t first_process(const struct critpath *c)
{
    uint32_t first = 0;

    if (c->t->header.pid)
        return c->t->header.pid;
    for (uint32_t id = 1; id < c->t->thread_limit; id++)
        if (can_follow(c, id) && (!first || c->line[id].begin < c->line[first].begin))
            first = id;
    return first ? trace_off_thread_at(c->t, first)->pid : 0;
}

static uint32_t last_thread(const struct critpath *c)
{
    uint32_t main = 0, last = 0, process = first_process(c);

    for (uint32_t id = 1; id < c->t->thread_limit; id++) {
        const struct trace_off_thread *th = trace_off_thread_at(c->t, id);

        if (!th || th->pid != process || !can_follow(c, id))
            continue;
        if (th->tid == th->pid)
            main = id;
        if (!last || c->line[id].end > c->line[last].end)
            last = id;
    }
    return main && c->line[main].end + OUTLIVES_NS >= c->line[last].end ? main : last;
}

/* The thread that ends last among those that are there in the range; 0: none is. */
static uint32_t thread_in(const struct critpath *c, const struct critpath_range *range)
{
    uint32_t last = 0;

    for (uint32_t id = 1; id < c->t->thread_limit; id++)
        if (can_follow(c, id) && c->line[id].end > range->from_ns &&
            c->line[id].begin < range->to_ns && (!last || c->line[id].end > c->line[last].end))
            last = id;
    return last;
}

bool critpath_settle(const struct critpath *c, struct critpath_range *range)
{
    if (!range->thread) {
        range->thread = last_thread(c);
        if (can_follow(c, range->thread) && (c->line[range->thread].end <= range->from_ns ||
                                             c->line[range->thread].begin >= range->to_ns))
            range->thread = thread_in(c, range);
    }
    if (!can_follow(c, range->thread))
        return false;
    if (range->from_ns < c->from)
        range->from_ns = c->from;
    if (range->to_ns > c->line[range->thread].end)
        range->to_ns = c->line[range->thread].end;
    return range->from_ns < range->to_ns && range->to_ns > c->line[range->thread].begin;
}

uint32_t critpath_thread(const struct critpath *c, const char *name)
{
    char *end;
    unsigned long tid = strtoul(name, &end, 10);
    bool number = end != name && !*end;
    uint32_t found = 0;

    for (uint32_t id = 1; id < c->t->thread_limit; id++) {
        const struct trace_off_thread *th = trace_off_thread_at(c->t, id);

        if (!th || !can_follow(c, id))
            continue;
        if (number && th->tid == tid)
            return id;
        if (strncmp(th->comm, name, sizeof th->comm - 1) == 0 &&
            (!found || c->line[id].end > c->line[found].end))
            found = id;
    }
    return found;
}

/* ---- walking ---- */

struct walk {
    struct critpath *c;
    const struct critpath_range *range;
    uint32_t thread;
    uint64_t at; /* the path is known from this moment on */
    critpath_sink sink;
    void *arg;
    uint64_t skipped;
};

/* The last wait of the thread that began before the moment. */
static struct wait *last_wait(const struct line *l, uint64_t before)
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

static void emit(const struct walk *w, enum critpath_kind kind, uint32_t row, uint64_t begin,
                 uint64_t end, uint32_t to)
{
    const struct critpath_step step = {.kind = kind,
                                       .thread = w->thread,
                                       .row = row,
                                       .to = to,
                                       .begin_ns =
                                           begin > w->range->from_ns ? begin : w->range->from_ns,
                                       .end_ns = end};

    w->sink(w->arg, &step);
}

/* Emits a step, so that the path is known down to `begin`. */
static void step(struct walk *w, enum critpath_kind kind, uint32_t row, uint64_t begin)
{
    if (begin < w->range->from_ns)
        begin = w->range->from_ns;
    if (begin >= w->at)
        return;
    emit(w, kind, row, begin, w->at, 0);
    if (kind == CRITPATH_SKIPPED)
        w->skipped += w->at - begin;
    w->at = begin;
}

/* Goes to the waker. False: the waker itself was in a wait all the time. */
static bool go_to_waker(struct walk *w, struct wait *by)
{
    const struct line *l = &w->c->line[by->waker];
    const struct wait *its = last_wait(l, w->at);
    bool asleep = its && its->end > w->at;

    if (w->at <= l->begin || l->end <= by->begin || (asleep && its->begin <= by->begin))
        return false;
    by->seen = w->c->walks;
    if (w->at > l->end) /* its end was the event that woke the sleeper */
        step(w, CRITPATH_WOKEN, by->row, l->end);
    if (asleep)
        step(w, CRITPATH_WOKEN, by->row, its->begin);
    emit(w, CRITPATH_HANDED, by->row, by->begin, w->at, by->waker);
    w->thread = by->waker;
    return true;
}

/* Goes to the waker of a wait in which the range ends: the path is that of the thread that will
 * end it. */
static bool go_to_coming(struct walk *w, struct wait *by)
{
    const struct line *l = &w->c->line[by->waker];

    if (w->at <= l->begin || w->at > l->end)
        return false;
    by->seen = w->c->walks;
    emit(w, CRITPATH_HANDED, by->row, by->begin, w->at, by->waker);
    w->thread = by->waker;
    return true;
}

static void through_wait(struct walk *w, struct wait *in)
{
    bool whole = in->woken <= w->at; /* the path comes from behind the wait's end */
    bool can = in->seen != w->c->walks && in->waker != w->thread && can_follow(w->c, in->waker);

    if (!whole && w->at == w->range->to_ns && can && go_to_coming(w, in))
        return;
    step(w, CRITPATH_WOKEN, in->row, in->woken);
    if (w->at <= in->begin || w->at <= w->range->from_ns)
        return;
    if (whole && can && !in->part && go_to_waker(w, in))
        return;
    step(w, CRITPATH_WAITED, in->row, in->begin);
}

/* Goes to the thread that created this one. False: the path ends here. */
static bool to_parent(struct walk *w, const struct line *l)
{
    if (!l->lived || !can_follow(w->c, l->parent) || l->parent == w->thread ||
        w->c->line[l->parent].begin >= w->at)
        return false;
    emit(w, CRITPATH_BORN, 0, w->at, w->at, l->parent);
    w->thread = l->parent;
    return true;
}

uint64_t critpath_walk(struct critpath *c, const struct critpath_range *range,
                       const uint32_t *class_of_row, uint32_t free_class, critpath_sink sink,
                       void *arg)
{
    struct walk w = {.c = c,
                     .range = range,
                     .thread = range->thread,
                     .at = range->to_ns,
                     .sink = sink,
                     .arg = arg};

    c->walks++;
    while (w.at > range->from_ns) {
        const struct line *l = &c->line[w.thread];
        struct wait *in = last_wait(l, w.at);
        uint64_t end = in ? in->end : l->begin;

        if (end < w.at)
            step(&w, CRITPATH_RAN, 0, end > l->begin ? end : l->begin);
        if (w.at <= range->from_ns)
            break;
        if (!in || w.at <= l->begin) {
            if (to_parent(&w, l))
                continue;
            step(&w, CRITPATH_UNKNOWN, 0, range->from_ns);
            break;
        }
        if (free_class && class_of_row[in->row] == free_class)
            step(&w, CRITPATH_SKIPPED, in->row, in->begin);
        else
            through_wait(&w, in);
    }
    return w.skipped;
}

/* ---- shares of running time ---- */

static uint64_t overlap(const struct share *s, const struct critpath_step *ran)
{
    uint64_t begin = s->begin > ran->begin_ns ? s->begin : ran->begin_ns,
             end = s->end < ran->end_ns ? s->end : ran->end_ns;

    return end > begin ? end - begin : 0;
}

/* The part of a share that falls into the step, if it was spread evenly. */
static double part_of(const struct share *s, const struct critpath_step *ran)
{
    uint64_t length = s->end - s->begin;

    return length ? (double)s->ns * ((double)overlap(s, ran) / (double)length) : 0;
}

/* The shares that began before the step's end. */
static size_t shares_before(const struct line *l, uint64_t end)
{
    size_t low = 0, high = l->nshares;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (l->share[middle].begin < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void critpath_share_out(const struct critpath *c, const struct critpath_step *ran,
                        critpath_share share, void *arg)
{
    const struct line *l = &c->line[ran->thread];
    uint64_t length = ran->end_ns - ran->begin_ns, given = 0;
    size_t end = shares_before(l, ran->end_ns), largest = 0;
    double waits = 0, others = 0, most = 0, of_waits, of_others;

    for (size_t i = end; i-- > 0 && l->share[i].last > ran->begin_ns;)
        *(l->share[i].sum ? &waits : &others) += part_of(&l->share[i], ran);
    if (waits + others <= 0)
        return;
    of_waits = waits > (double)length || others <= 0 ? (double)length / (waits > 0 ? waits : 1) : 1;
    of_others = others > 0 && waits < (double)length ? ((double)length - waits) / others : 0;
    for (size_t i = end; i-- > 0 && l->share[i].last > ran->begin_ns;) {
        double part = part_of(&l->share[i], ran) * (l->share[i].sum ? of_waits : of_others);
        uint64_t ns = (uint64_t)part;

        if (part > most) {
            most = part;
            largest = i;
        }
        if (ns > length - given)
            ns = length - given;
        given += ns;
        if (ns)
            share(arg, l->share[i].row, ns);
    }
    if (given < length && most > 0) /* the rest that rounding left */
        share(arg, l->share[largest].row, length - given);
}
