/*
 * Perfetto's trace, for ui.perfetto.dev and trace_processor: threads' waits in time order.
 *
 * Waits are there twice. As events of a scheduler (perfettosched.h) they give thread states, wakers
 * and the critical path; as slices they have what was waited for, the stack, and an arrow from the
 * waking call. Field numbers are those of Perfetto's published protos: messages ProcessTree,
 * TrackDescriptor, ThreadDescriptor, CounterDescriptor, TrackEvent and DebugAnnotation.
 *
 * A thread's track has waits that do not overlap. Sums of short waits lie across others, so they
 * are on tracks below it, as many as needed, which the viewer draws as one.
 *
 * An arrow ends where a slice begins, never at its end. So the end of a sleep is an event of its
 * own in the slice, at the time of the waking call.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/trace_format.h"
#include "render/backend.h"
#include "render/export/perfettoout.h"
#include "render/export/perfettosched.h"
#include "render/export/protoout.h"
#include "render/export/waitlist.h"
#include "render/framename.h"
#include "render/text/offkind.h"

#define START_NS 1000000000u /* the recording's beginning: a time of 0 would be none */
#define TRACKS_MAX 64u       /* of a thread */

enum { TREE_PROCESS = 1, PROCESS_PID = 1, PROCESS_PARENT = 2, PROCESS_COMMAND = 3 };
enum { TREE_THREAD = 2, THREAD_TID = 1, THREAD_NAME = 2, THREAD_PID = 3 };
/* TrackDescriptor, and its ThreadDescriptor */
enum { TRACK_ID = 1, TRACK_NAME = 2, TRACK_THREAD = 4, TRACK_PARENT = 5, TRACK_COUNTER = 8 };
enum { COUNTER_UNIT = 3, UNIT_BYTES = 3 };
enum { TRACK_THREAD_PID = 1, TRACK_THREAD_TID = 2, TRACK_THREAD_NAME = 5 };
/* TrackEvent */
enum {
    EVENT_CATEGORY = 3,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_NUMBER = 10,
    EVENT_TRACK = 11,
    EVENT_NAME = 23,
    EVENT_VALUE = 30,
    EVENT_FLOW = 47,
    EVENT_FLOW_ENDS = 48,
    EVENT_STACK = 56
};
enum { BEGIN = 1, END = 2, INSTANT = 3, VALUE = 4 }; /* EVENT_TYPE */
enum { ANNOTATION_NAME = 1, ANNOTATION_NUMBER = 3 };

struct writer {
    struct perfettoout p;
    struct waitlist w;
    struct strbuf event, part, text;
    uint64_t ends_ns[TRACKS_MAX]; /* of the tracks below a thread's own: end of the last slice */
    uint32_t ntracks;
    uint64_t left_out; /* sums for which there was no track */
};

static void put(struct writer *w, unsigned field, uint64_t time_ns)
{
    perfettoout_packet(&w->p, PERFETTO_SLICES, field, &w->event, time_ns);
}

static void add_clean(struct writer *w, struct strbuf *to, unsigned field, const struct strbuf *s)
{
    strbuf_clear(&w->text);
    framename_add_clean(&w->text, s->buf ? s->buf : "", s->len);
    protoout_bytes(to, field, w->text.buf ? w->text.buf : "", w->text.len);
}

/* ---- processes and threads ---- */

/* The process of the thread that created one of another process; 0: not known. */
static uint32_t parent_of(const struct writer *w, size_t thread)
{
    uint64_t parent = w->w.lanes->threads[thread].parent;

    return parent && parent <= w->w.lanes->nthreads ? w->w.threads[parent - 1].pid : 0;
}

/* Adds a process when its first thread is met: `seen` has those that are there, by pid. */
static void add_process(struct writer *w, struct strbuf *tree, size_t thread)
{
    const struct lanes_thread *l = &w->w.lanes->threads[thread];
    const struct waitlist_thread *t = &w->w.threads[thread];
    uint32_t parent = parent_of(w, thread);

    protoout_number(&w->part, PROCESS_PID, t->pid);
    protoout_number(&w->part, PROCESS_PARENT, parent == t->pid ? 0 : parent);
    add_clean(w, &w->part, PROCESS_COMMAND, l->title.len ? &l->title : &l->name);
    protoout_message(tree, TREE_PROCESS, &w->part);
}

static int by_process(const void *pa, const void *pb, void *arg)
{
    const struct writer *w = arg;
    const struct waitlist_thread *a = &w->w.threads[*(const uint32_t *)pa],
                                 *b = &w->w.threads[*(const uint32_t *)pb];

    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    /* the main thread first: it was created by another process */
    if ((a->tid == a->pid) != (b->tid == b->pid))
        return a->tid == a->pid ? -1 : 1;
    return a->tid < b->tid ? -1 : a->tid > b->tid;
}

static void add_tree(struct writer *w)
{
    size_t n = w->w.lanes->nthreads;
    uint32_t *order = xcalloc(n + 1, sizeof *order), pid = 0;
    struct strbuf tree = STRBUF_INIT;

    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    qsort_r(order, n, sizeof *order, by_process, w);
    for (size_t i = 0; i < n; i++) {
        const struct waitlist_thread *t = &w->w.threads[order[i]];

        if (!t->pid)
            continue;
        if (t->pid != pid)
            add_process(w, &tree, order[i]);
        pid = t->pid;
        protoout_number(&w->part, THREAD_TID, t->tid);
        add_clean(w, &w->part, THREAD_NAME, &w->w.lanes->threads[order[i]].name);
        protoout_number(&w->part, THREAD_PID, t->pid);
        protoout_message(&tree, TREE_THREAD, &w->part);
    }
    perfettoout_packet(&w->p, PERFETTO_SCHED, PERFETTO_PROCESS_TREE, &tree, START_NS);
    strbuf_release(&tree);
    free(order);
}

/* ---- tracks ---- */

/* A thread's own track is 0; the others are below it. */
static uint64_t track_id(uint32_t thread, uint32_t track)
{
    return (uint64_t)track << 32 | (thread + 1u);
}

static void add_track(struct writer *w, uint32_t thread)
{
    const struct waitlist_thread *t = &w->w.threads[thread];

    protoout_number(&w->part, TRACK_THREAD_PID, t->pid);
    protoout_number(&w->part, TRACK_THREAD_TID, t->tid);
    add_clean(w, &w->part, TRACK_THREAD_NAME, &w->w.lanes->threads[thread].name);
    protoout_number(&w->event, TRACK_ID, track_id(thread, 0));
    protoout_message(&w->event, TRACK_THREAD, &w->part);
    put(w, PERFETTO_TRACK, START_NS);
}

static void add_track_below(struct writer *w, uint32_t thread, uint32_t track)
{
    static const char name[] = "short waits";

    protoout_number(&w->event, TRACK_ID, track_id(thread, track));
    protoout_bytes(&w->event, TRACK_NAME, name, sizeof name - 1);
    protoout_number(&w->event, TRACK_PARENT, track_id(thread, 0));
    put(w, PERFETTO_TRACK, START_NS);
}

static uint64_t counter_id(size_t k)
{
    return ((uint64_t)TRACKS_MAX + 1 + k) << 32;
}

static void add_counter(struct writer *w, const char *name, uint64_t id)
{
    protoout_number(&w->part, COUNTER_UNIT, UNIT_BYTES);
    protoout_number(&w->event, TRACK_ID, id);
    protoout_bytes(&w->event, TRACK_NAME, name, strlen(name));
    protoout_message(&w->event, TRACK_COUNTER, &w->part);
    put(w, PERFETTO_TRACK, START_NS);
}

/* The first track below a thread's own that is free from then on; 0: all are taken. */
static uint32_t track_for(struct writer *w, uint32_t thread, const struct waitlist_wait *one)
{
    uint32_t i = 0;

    while (i < w->ntracks && w->ends_ns[i] > one->begin_ns)
        i++;
    if (i == TRACKS_MAX)
        return 0;
    if (i == w->ntracks)
        add_track_below(w, thread, ++w->ntracks);
    w->ends_ns[i] = one->end_ns;
    return i + 1;
}

/* ---- slices ---- */

static void add_number(struct writer *w, const char *name, uint64_t v)
{
    protoout_number(&w->part, ANNOTATION_NAME, perfettoout_annotation_name(&w->p, name));
    protoout_present(&w->part, ANNOTATION_NUMBER, v);
    protoout_message(&w->event, EVENT_ANNOTATION, &w->part);
}

static void add_event(struct writer *w, unsigned type, uint64_t track, const char *category)
{
    protoout_number(&w->event, EVENT_TYPE, type);
    protoout_number(&w->event, EVENT_TRACK, track);
    if (category)
        protoout_number(&w->event, EVENT_CATEGORY, perfettoout_category(&w->p, category));
}

/* Names a sum by its number of waits, and says how long they were. */
static void add_sum(struct writer *w, const struct waitlist_wait *one,
                    const struct frametree_name *leaf)
{
    struct framename f = framename_split(leaf->s, leaf->len);

    strbuf_clear(&w->text);
    strbuf_addf(&w->text, "%" PRIu64 " waits: ", one->times);
    framename_add_clean(&w->text, f.function, f.function_len);
    protoout_bytes(&w->event, EVENT_NAME, w->text.buf, w->text.len);
    add_number(w, "waits", one->times);
    add_number(w, "asleep_ns", one->ns);
    add_number(w, "run_queue_ns", one->runq_ns);
    add_number(w, "longest_ns", one->longest_ns);
}

static void add_wait(struct writer *w, const struct waitlist_wait *one,
                     const struct frametree_name *leaf)
{
    uint64_t length = one->end_ns - one->begin_ns, waited = one->ns + one->runq_ns;

    protoout_number(&w->event, EVENT_NAME_NUMBER, perfettoout_frame_name(&w->p, leaf));
    if (one->kind == TRACE_INTERVAL_PART)
        add_number(w, "part_of_the_next_wait", 1);
    if (waited < length) /* it was stopped by the tracer, say */
        add_number(w, "not_waiting_ns", length - waited);
}

static void add_value(struct writer *w, uint64_t track, int64_t value, uint64_t at_ns)
{
    add_event(w, VALUE, track, NULL);
    protoout_present(&w->event, EVENT_VALUE, (uint64_t)value);
    put(w, PERFETTO_EVENT, at_ns);
}

static void add_waking_call(struct writer *w, const struct waitlist_wait *one, uint64_t flow)
{
    const struct waitlist_row *row = waitlist_row(&w->w, one);
    const struct frametree_name *call = waitlist_waking_call(&w->w, row->wake_node);
    static const char wakes[] = "wake";

    add_event(w, INSTANT, track_id(row->waker - 1, 0), "wake");
    if (call) {
        protoout_number(&w->event, EVENT_NAME_NUMBER, perfettoout_frame_name(&w->p, call));
        protoout_number(&w->event, EVENT_STACK, perfettoout_waker_stack(&w->p, row->wake_node));
    } else {
        protoout_number(&w->event, EVENT_NAME_NUMBER,
                        perfettoout_event_name(&w->p, wakes, sizeof wakes - 1));
    }
    protoout_fixed64(&w->event, EVENT_FLOW, flow);
    put(w, PERFETTO_EVENT, START_NS + one->wake_ns);
}

static void add_end_of_sleep(struct writer *w, const struct waitlist_wait *one, uint64_t flow)
{
    const struct waitlist_row *row = waitlist_row(&w->w, one);
    const struct strbuf *waker = &w->w.lanes->threads[row->waker - 1].name;
    struct strbuf name = STRBUF_INIT;

    strbuf_addstr(&name, "woken by ");
    strbuf_add(&name, waker->buf ? waker->buf : "", waker->len);
    add_event(w, INSTANT, track_id(row->thread, 0), "wake");
    protoout_number(&w->event, EVENT_NAME_NUMBER,
                    perfettoout_event_name(&w->p, name.buf, name.len));
    protoout_fixed64(&w->event, EVENT_FLOW_ENDS, flow);
    put(w, PERFETTO_EVENT, START_NS + one->wake_ns);
    strbuf_release(&name);
}

static void add_slice(struct writer *w, const struct waitlist_wait *one, uint64_t flow)
{
    const struct waitlist_row *row = waitlist_row(&w->w, one);
    const struct frametree_name *leaf = waitlist_leaf(&w->w, row->node);
    uint32_t track = one->alone ? 0 : track_for(w, row->thread, one);
    const char *kind = offkind_name(row->kind);

    if (!one->alone && !track) {
        w->left_out += one->times;
        return;
    }
    add_event(w, BEGIN, track_id(row->thread, track), kind ? kind : "other");
    if (one->kind == TRACE_INTERVAL_SUM)
        add_sum(w, one, leaf);
    else
        add_wait(w, one, leaf);
    protoout_number(&w->event, EVENT_STACK, perfettoout_stack(&w->p, row->node));
    put(w, PERFETTO_EVENT, START_NS + one->begin_ns);
    if (one->wake_ns && w->w.threads[row->waker - 1].tid) {
        add_waking_call(w, one, flow);
        add_end_of_sleep(w, one, flow);
    }
    add_event(w, END, track_id(row->thread, track), NULL);
    put(w, PERFETTO_EVENT, START_NS + one->end_ns);
}

static void add_thread(struct writer *w, uint32_t thread)
{
    const struct waitlist_thread *t = &w->w.threads[thread];

    w->ntracks = 0;
    for (size_t i = t->first; i < t->first + t->n; i++)
        if (waitlist_row(&w->w, &w->w.waits[i])->node != FRAMETREE_NONE)
            add_slice(w, &w->w.waits[i], i + 1);
}

/* ---- memory ---- */

/* Writes what was live, mapped and resident over time, if it is known by the clock of the waits. */
static void add_memory(struct writer *w, const struct timeline *tl)
{
    static const char *const names[] = {"live memory", "mapped memory", "resident memory"};
    const uint64_t before =
        tl && w->w.lanes->zero_ns > START_NS ? w->w.lanes->zero_ns - START_NS : 0;
    int64_t sum[ARRAY_LEN(names)] = {0};

    if (!before || tl->zero_ns <= before || tl->zero_ns > INT64_MAX / 2)
        return;
    for (size_t k = 0; tl->n && k < ARRAY_LEN(names); k++)
        add_counter(w, names[k], counter_id(k));
    for (size_t i = 0; i < tl->n; i++) {
        const struct timeline_moment *m = &tl->moments[i];
        const int64_t change[] = {m->live, m->mapped, m->rss};

        if (m->us > INT64_MAX / 2000)
            break;
        for (size_t k = 0; k < ARRAY_LEN(names); k++) {
            sum[k] = (int64_t)((uint64_t)sum[k] + (uint64_t)change[k]);
            add_value(w, counter_id(k), sum[k], tl->zero_ns - before + m->us * 1000);
        }
    }
}

static void write_waits(struct writer *w, const struct timeline *tl)
{
    size_t n = w->w.lanes->nthreads;

    add_tree(w);
    perfettosched_write(&w->p, &w->w, START_NS);
    for (uint32_t i = 0; i < n; i++)
        if (w->w.threads[i].tid)
            add_track(w, i);
    for (uint32_t i = 0; i < n; i++)
        if (w->w.threads[i].tid)
            add_thread(w, i);
    add_memory(w, tl);
    if (w->left_out)
        flame_warn("perfetto: %" PRIu64 " short waits lie across too many others and are left out",
                   w->left_out);
}

static int perfetto_write(FILE *file, const struct frametree *t, const struct render_options *o)
{
    struct writer w = {.event = STRBUF_INIT, .part = STRBUF_INIT, .text = STRBUF_INIT};

    perfettoout_init(&w.p, file, t);
    if (waitlist_init(&w.w, t, o->lanes, false)) {
        write_waits(&w, o->timeline);
        waitlist_report(&w.w, "perfetto");
        waitlist_release(&w.w);
    }
    strbuf_release(&w.event);
    strbuf_release(&w.part);
    strbuf_release(&w.text);
    return perfettoout_end(&w.p);
}

const struct render_backend export_perfetto = {
    .name = "perfetto",
    .endings = "pftrace perfetto-trace",
    .what = "Perfetto's trace: threads' waits in time order",
    .all_views = true,
    .explores = true,
    .modules = true,
    .lines = true,
    .waits = true,
    .needs_waits = true,
    .write = perfetto_write,
};
