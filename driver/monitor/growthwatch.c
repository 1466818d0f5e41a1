/*
 * A sample is a mark as a program would set it. It has each row whose live amount has changed, and
 * of many samples ever fewer are kept (trace_mark_is_kept). Its place on the axis of passes is its
 * time, in intervals, as samples may come late.
 *
 * A trace is identified by its header; before that is read, nothing else of it is.
 */
#define _GNU_SOURCE
#include "driver/monitor/growthwatch.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "common/trace/mark_growth.h"
#include "common/trace/trace_reader.h"
#include "driver/rundir/rundir.h"
#include "driver/monitor/live_rows.h"

/* A process, or what it was before it executed another program. */
struct looked_at {
    uint32_t pid;
    uint64_t start_ns;
    uint64_t looks;
    struct live {
        uint64_t bytes, blocks;
    } * live; /* by row, at the sample that was kept last */
    size_t live_room;
    struct trace_mark_view *marks;
    size_t nmarks, mark_room;
};

struct growthwatch {
    pthread_mutex_t lock; /* of all below, but what is fixed */
    char *dir;            /* fixed, as is the next */
    uint64_t interval_ns, started_ns;
    growthwatch_now *now; /* used without an interval; fixed */
    void *now_arg;
    struct looked_at *list;
    size_t n, room;
};

static struct looked_at *find(struct growthwatch *w, const struct trace_header *h)
{
    for (size_t i = w->n; i-- > 0;)
        if (w->list[i].pid == h->pid && w->list[i].start_ns == h->start_monotonic_ns)
            return &w->list[i];
    return NULL;
}

static struct looked_at *find_or_add(struct growthwatch *w, const struct trace_header *h)
{
    struct looked_at *at = find(w, h);

    if (at)
        return at;
    GROW(w->list, w->n, w->room);
    w->list[w->n] = (struct looked_at){.pid = h->pid, .start_ns = h->start_monotonic_ns};
    return &w->list[w->n++];
}

/* ---- one sample ---- */

static void note_row(struct looked_at *at, struct trace_mark_view *m, uint32_t id,
                     const struct trace_row *row)
{
    struct live now = {row->alloc_bytes - row->free_bytes, row->alloc_calls - row->free_calls};

    GROW_FILLED(at->live, id, at->live_room, 0);
    if (now.bytes == at->live[id].bytes && now.blocks == at->live[id].blocks)
        return;
    GROW(m->entries, m->n, m->room);
    m->entries[m->n++] = (struct trace_mark_entry){id, (int64_t)now.bytes, (int64_t)now.blocks};
    at->live[id] = now;
}

static void note_mark(struct looked_at *at, const struct trace *t, double when)
{
    struct trace_mark_view m = {.number = at->looks - 1, .at = when, .name = xstrdup("")};

    for (uint32_t id = 0; id < t->row_limit; id++)
        if (trace_row_used(&t->rows[id]) && trace_row_is_counter(t->rows[id].flags))
            note_row(at, &m, id, &t->rows[id]);
    GROW(at->marks, at->nmarks, at->mark_room);
    at->marks[at->nmarks++] = m;
}

/* Now, on the axis of passes. */
static double now_of(const struct growthwatch *w)
{
    return w->now ? w->now(w->now_arg)
                  : (double)(clock_ns(CLOCK_MONOTONIC) - w->started_ns) / (double)w->interval_ns;
}

static void look_at(const char *path, void *arg)
{
    struct growthwatch *w = arg;
    struct trace_header h;
    struct looked_at *at;
    struct trace *t;
    double when;

    if (!live_rows_header(path, &h))
        return;
    at = find_or_add(w, &h);
    if (!trace_mark_is_kept(at->looks++))
        return;
    when = now_of(w);
    if (trace_load_quietly(path, &t) != 0) {
        at->looks--;
        return;
    }
    /* Its file may have become another's since. */
    if (find(w, &t->header) == at)
        note_mark(at, t, (when + now_of(w)) / 2);
    trace_free(t);
}

void growthwatch_look_now(void *arg)
{
    struct growthwatch *w = arg;
    pthread_mutex_lock(&w->lock);
    rundir_each_trace(w->dir, look_at, w);
    pthread_mutex_unlock(&w->lock);
}

unsigned growthwatch_look(void *arg)
{
    struct growthwatch *w = arg;
    uint64_t begun = clock_ns(CLOCK_MONOTONIC), took, pause;

    growthwatch_look_now(w);
    took = clock_ns(CLOCK_MONOTONIC) - begun;
    pause = took < w->interval_ns ? (w->interval_ns - took) / 1000000u : 0;
    return pause ? (unsigned)pause : 1;
}

/* ---- all of them ---- */

void growthwatch_ask(struct growthwatch *w, growthwatch_now *now, void *arg)
{
    w->now = now;
    w->now_arg = arg;
}

struct growthwatch *growthwatch_new(const char *dir, uint64_t interval_ns)
{
    struct growthwatch *w = xcalloc(1, sizeof *w);

    w->dir = xstrdup(dir);
    w->interval_ns = interval_ns;
    w->started_ns = clock_ns(CLOCK_MONOTONIC);
    pthread_mutex_init(&w->lock, NULL);
    return w;
}

void growthwatch_give(struct growthwatch *w, struct trace *t)
{
    struct looked_at *at;

    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    at = find(w, &t->header);
    trace_free_marks(t);
    if (at) {
        t->marks = at->marks;
        t->nmarks = at->nmarks;
        t->mark_room = at->mark_room;
        at->marks = NULL;
        at->nmarks = at->mark_room = 0;
    }
    pthread_mutex_unlock(&w->lock);
    trace_growth(t);
}

void growthwatch_free(struct growthwatch *w)
{
    struct trace none = {.nmarks = 0};

    if (!w)
        return;
    for (size_t i = 0; i < w->n; i++) {
        none.marks = w->list[i].marks;
        none.nmarks = w->list[i].nmarks;
        trace_free_marks(&none);
        free(w->list[i].live);
    }
    free(w->list);
    free(w->dir);
    pthread_mutex_destroy(&w->lock);
    free(w);
}
