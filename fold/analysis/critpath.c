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

struct critpath {
    const struct trace *t;
    struct threadlines *lines; /* borrowed */
    uint32_t walks;
};

bool critpath_is_known(const struct trace *t)
{
    return t->header.recorder == TRACE_RECORDER_OFF && t->nintervals && t->nlives;
}

struct critpath *critpath_new(struct threadlines *lines)
{
    struct critpath *c = xcalloc(1, sizeof *c);

    c->t = lines->t;
    c->lines = lines;
    for (uint32_t id = 0; id < c->t->thread_limit; id++)
        for (size_t i = 0; i < lines->line[id].nwaits; i++)
            lines->line[id].wait[i].seen = 0;
    return c;
}

void critpath_free(struct critpath *c)
{
    free(c);
}

bool critpath_has_sums(const struct critpath *c)
{
    return c->lines->sums;
}

static struct thread_line *line_of(const struct critpath *c, uint32_t thread)
{
    return &c->lines->line[thread];
}

/* Whether the path can go there. */
static bool can_follow(const struct critpath *c, uint32_t thread)
{
    return threadlines_of(c->lines, thread) != NULL;
}

/* ---- lives and waits, for others ---- */

bool critpath_life(const struct critpath *c, uint32_t thread, struct critpath_life *life)
{
    const struct thread_line *l = threadlines_of(c->lines, thread);

    if (!l)
        return false;
    *life = (struct critpath_life){.begin_ns = l->begin, .end_ns = l->end, .nwaits = l->nwaits};
    if (l->lived && l->parent != thread && can_follow(c, l->parent) &&
        line_of(c, l->parent)->begin < l->begin)
        life->parent = l->parent;
    return true;
}

struct critpath_wait critpath_wait(const struct critpath *c, uint32_t thread, size_t i)
{
    const struct thread_wait *w = &line_of(c, thread)->wait[i];
    bool can = w->waker != thread && can_follow(c, w->waker);

    return (struct critpath_wait){.begin_ns = w->begin,
                                  .end_ns = w->end,
                                  .woken_ns = w->woken,
                                  .row = w->row,
                                  .waker = can ? w->waker : 0};
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
        if (can_follow(c, id) && (!first || line_of(c, id)->begin < line_of(c, first)->begin))
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
        if (!last || line_of(c, id)->end > line_of(c, last)->end)
            last = id;
    }
    return main && line_of(c, main)->end + OUTLIVES_NS >= line_of(c, last)->end ? main : last;
}

/* The thread that ends last among those that are there in the range; 0: none is. */
static uint32_t thread_in(const struct critpath *c, const struct critpath_range *range)
{
    uint32_t last = 0;

    for (uint32_t id = 1; id < c->t->thread_limit; id++)
        if (can_follow(c, id) && line_of(c, id)->end > range->from_ns &&
            line_of(c, id)->begin < range->to_ns &&
            (!last || line_of(c, id)->end > line_of(c, last)->end))
            last = id;
    return last;
}

bool critpath_settle(const struct critpath *c, struct critpath_range *range)
{
    if (!range->thread) {
        range->thread = last_thread(c);
        if (can_follow(c, range->thread) && (line_of(c, range->thread)->end <= range->from_ns ||
                                             line_of(c, range->thread)->begin >= range->to_ns))
            range->thread = thread_in(c, range);
    }
    if (!can_follow(c, range->thread))
        return false;
    if (range->from_ns < c->lines->from_ns)
        range->from_ns = c->lines->from_ns;
    if (range->to_ns > line_of(c, range->thread)->end)
        range->to_ns = line_of(c, range->thread)->end;
    return range->from_ns < range->to_ns && range->to_ns > line_of(c, range->thread)->begin;
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
            (!found || line_of(c, id)->end > line_of(c, found)->end))
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

size_t critpath_waits_before(const struct critpath *c, uint32_t thread, uint64_t moment_ns)
{
    const struct thread_line *l = line_of(c, thread);
    const struct thread_wait *last = thread_line_last_wait(l, moment_ns);

    return last ? (size_t)(last - l->wait) + 1 : 0;
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
static bool go_to_waker(struct walk *w, struct thread_wait *by)
{
    const struct thread_line *l = line_of(w->c, by->waker);
    const struct thread_wait *its = thread_line_last_wait(l, w->at);
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
static bool go_to_coming(struct walk *w, struct thread_wait *by)
{
    const struct thread_line *l = line_of(w->c, by->waker);

    if (w->at <= l->begin || w->at > l->end)
        return false;
    by->seen = w->c->walks;
    emit(w, CRITPATH_HANDED, by->row, by->begin, w->at, by->waker);
    w->thread = by->waker;
    return true;
}

static void through_wait(struct walk *w, struct thread_wait *in)
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
static bool to_parent(struct walk *w, const struct thread_line *l)
{
    if (!l->lived || !can_follow(w->c, l->parent) || l->parent == w->thread ||
        line_of(w->c, l->parent)->begin >= w->at)
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
        const struct thread_line *l = line_of(c, w.thread);
        struct thread_wait *in = thread_line_last_wait(l, w.at);
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

void critpath_share_out(const struct critpath *c, const struct critpath_step *ran,
                        thread_share_sink share, void *arg)
{
    thread_line_share_out(line_of(c, ran->thread), ran->begin_ns, ran->end_ns, share, arg);
}
