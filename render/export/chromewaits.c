/*
 * A wait is a complete event ("X") of its thread, with its stack as "sf". A wake is two more of a
 * nanosecond each, as an arrow ("s", "f") needs an event around both of its ends: the waking call
 * in the waker, and the end of the sleep in the wait. An arrow into the wait itself would be drawn
 * to its beginning.
 *
 * Complete events of a thread have to nest. Sums of short waits lie across others, so they are
 * asynchronous events ("b", "e"), each with a number of its own.
 */
#include "render/export/chromewaits.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/trace_format.h"
#include "render/framename.h"
#include "render/text/json.h"
#include "render/text/offkind.h"

struct writer {
    struct outstream *out;
    const struct waitlist *w;
    const char *comma;
};

/* ---- parts of events ---- */

static void add_text(struct strbuf *sb, const struct strbuf *s)
{
    json_add_string(sb, s->buf ? s->buf : "", s->len, 0);
}

/* A frame's function, without its annotation and place. */
static void add_function(struct strbuf *sb, const struct frametree_name *name)
{
    struct framename f = framename_split(name->s, name->len);

    json_add_string(sb, f.function, f.function_len, 0);
}

static void add_time(struct strbuf *sb, const char *key, uint64_t ns)
{
    strbuf_addf(sb, ",\"%s\":%" PRIu64 ".%03" PRIu64, key, ns / 1000, ns % 1000);
}

/* Begins an event of a thread. The caller adds further members and the closing brace. */
static struct strbuf *begin_event(struct writer *w, const char *phase, uint32_t thread)
{
    struct strbuf *sb = &w->out->sb;

    outstream_some(w->out);
    strbuf_addf(sb, "%s\n{\"ph\":\"%s\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, w->comma, phase,
                w->w->threads[thread].pid, w->w->threads[thread].tid);
    w->comma = ",";
    return sb;
}

/* ---- stacks ---- */

static void add_frame(struct writer *w, const struct frametree_name *name)
{
    strbuf_addstr(&w->out->sb, ":{\"name\":");
    add_function(&w->out->sb, name);
}

static void add_stack_frames(struct writer *w, const uint8_t *used)
{
    const struct frametree *t = w->w->t;

    for (uint32_t i = 1; i < t->n; i++) {
        if (!used[i])
            continue;
        strbuf_addf(&w->out->sb, "%s\n\"%" PRIu32 "\"", w->comma, i);
        add_frame(w, frametree_name(t, i));
        if (t->nodes[i].parent)
            strbuf_addf(&w->out->sb, ",\"parent\":\"%" PRIu32 "\"", t->nodes[i].parent);
        strbuf_addch(&w->out->sb, '}');
        outstream_some(w->out);
        w->comma = ",";
    }
}

/* Adds a waker's stack. It grows from its leaf to its root, so its frames have no ids in common
 * with others: they are "NODE.0" for the root, "NODE.1" and so on. Returns the number of frames. */
static uint32_t add_waker_frames(struct writer *w, uint32_t node)
{
    const struct frametree *t = w->w->t;
    uint32_t n = 0;

    for (uint32_t at = node; at && !waitlist_is_border(w->w, at); at = t->nodes[at].parent, n++) {
        strbuf_addf(&w->out->sb, "%s\n\"%" PRIu32 ".%" PRIu32 "\"", w->comma, node, n);
        add_frame(w, frametree_name(t, at));
        if (n)
            strbuf_addf(&w->out->sb, ",\"parent\":\"%" PRIu32 ".%" PRIu32 "\"", node, n - 1);
        strbuf_addch(&w->out->sb, '}');
        outstream_some(w->out);
        w->comma = ",";
    }
    return n;
}

static void mark_used(const struct waitlist *w, uint8_t *used)
{
    for (size_t i = 0; i < w->n; i++) {
        uint32_t node = waitlist_row(w, &w->waits[i])->node;

        for (; node != FRAMETREE_NONE && node && !used[node]; node = w->t->nodes[node].parent)
            used[node] = 1;
    }
}

/* Writes all stacks. `leaf` gets, by node of a stack with its waker, the number of the waker's
 * frames. */
static void write_stacks(struct writer *w, uint32_t *leaf)
{
    uint8_t *used = xcalloc(w->w->t->n, 1);

    mark_used(w->w, used);
    strbuf_addstr(&w->out->sb, "\"stackFrames\":{");
    w->comma = "";
    add_stack_frames(w, used);
    for (size_t i = 0; i < w->w->n; i++) {
        const struct waitlist_wait *one = &w->w->waits[i];
        uint32_t node = waitlist_row(w->w, one)->wake_node;

        if (one->wake_ns && waitlist_waking_call(w->w, node) && !leaf[node])
            leaf[node] = add_waker_frames(w, node);
    }
    strbuf_addstr(&w->out->sb, "},\n");
    free(used);
}

/* ---- events ---- */

static void write_names(struct writer *w)
{
    for (uint32_t i = 0; i < w->w->lanes->nthreads; i++) {
        const struct lanes_thread *t = &w->w->lanes->threads[i];
        bool leads = w->w->threads[i].pid == w->w->threads[i].tid;
        struct strbuf *sb;

        if (!w->w->threads[i].tid)
            continue;
        sb = begin_event(w, "M", i);
        strbuf_addstr(sb, ",\"name\":\"thread_name\",\"args\":{\"name\":");
        add_text(sb, &t->name);
        strbuf_addstr(sb, "}}");
        if (!leads)
            continue;
        begin_event(w, "M", i);
        strbuf_addstr(sb, ",\"name\":\"process_name\",\"args\":{\"name\":");
        add_text(sb, t->title.len ? &t->title : &t->name);
        strbuf_addstr(sb, "}}");
    }
}

static const char *kind_of(const struct writer *w, const struct waitlist_wait *one)
{
    const char *kind = offkind_name(waitlist_row(w->w, one)->kind);

    return kind ? kind : "other";
}

static void write_sum(struct writer *w, const struct waitlist_wait *one, size_t number)
{
    const struct waitlist_row *row = waitlist_row(w->w, one);
    struct framename f;
    struct strbuf name = STRBUF_INIT, *sb;
    const struct frametree_name *leaf = waitlist_leaf(w->w, row->node);

    f = framename_split(leaf->s, leaf->len);
    if (one->kind == TRACE_INTERVAL_SUM)
        strbuf_addf(&name, "%" PRIu64 " waits: ", one->times);
    strbuf_add(&name, f.function, f.function_len);
    for (int end = 0; end < 2; end++) {
        sb = begin_event(w, end ? "e" : "b", row->thread);
        strbuf_addf(sb, ",\"cat\":\"%s\",\"id\":%zu,\"name\":", kind_of(w, one), number);
        add_text(sb, &name);
        add_time(sb, "ts", end ? one->end_ns : one->begin_ns);
        if (!end)
            strbuf_addf(sb,
                        ",\"sf\":\"%" PRIu32 "\",\"args\":{\"waits\":%" PRIu64
                        ",\"asleep_ns\":%" PRIu64 ",\"run_queue_ns\":%" PRIu64
                        ",\"longest_ns\":%" PRIu64 "}",
                        row->node, one->times, one->ns, one->runq_ns, one->longest_ns);
        strbuf_addch(sb, '}');
    }
    strbuf_release(&name);
}

static void write_wait(struct writer *w, const struct waitlist_wait *one)
{
    const struct waitlist_row *row = waitlist_row(w->w, one);
    uint64_t length = one->end_ns - one->begin_ns, waited = one->ns + one->runq_ns;
    struct strbuf *sb = begin_event(w, "X", row->thread);

    strbuf_addf(sb, ",\"cat\":\"%s\",\"name\":", kind_of(w, one));
    add_function(sb, waitlist_leaf(w->w, row->node));
    add_time(sb, "ts", one->begin_ns);
    add_time(sb, "dur", length);
    strbuf_addf(sb, ",\"sf\":\"%" PRIu32 "\"", row->node);
    if (one->kind == TRACE_INTERVAL_PART || waited < length)
        strbuf_addf(sb, ",\"args\":{\"not_waiting_ns\":%" PRIu64 "%s}",
                    waited < length ? length - waited : 0,
                    one->kind == TRACE_INTERVAL_PART ? ",\"part_of_the_next_wait\":1" : "");
    strbuf_addch(sb, '}');
}

/* One end of an arrow, in an event of a nanosecond. */
static void write_end(struct writer *w, const char *phase, uint32_t thread, uint64_t at_ns,
                      size_t number)
{
    struct strbuf *sb = &w->out->sb;

    add_time(sb, "ts", at_ns);
    strbuf_addstr(sb, ",\"dur\":0.001}");
    begin_event(w, phase, thread);
    strbuf_addf(sb, ",\"cat\":\"wake\",\"name\":\"wake\",\"id\":%zu", number);
    add_time(sb, "ts", at_ns);
    strbuf_addstr(sb, *phase == 'f' ? ",\"bp\":\"e\"}" : "}");
}

static void write_wake(struct writer *w, const struct waitlist_wait *one, size_t number,
                       const uint32_t *leaf)
{
    const struct waitlist_row *row = waitlist_row(w->w, one);
    const struct frametree_name *call = waitlist_waking_call(w->w, row->wake_node);
    const struct strbuf *waker = &w->w->lanes->threads[row->waker - 1].name;
    struct strbuf *sb = begin_event(w, "X", row->waker - 1), name = STRBUF_INIT;

    strbuf_addstr(sb, ",\"cat\":\"wake\",\"name\":");
    if (call) {
        add_function(sb, call);
        strbuf_addf(sb, ",\"sf\":\"%" PRIu32 ".%" PRIu32 "\"", row->wake_node,
                    leaf[row->wake_node] - 1);
    } else {
        strbuf_addstr(sb, "\"wake\"");
    }
    write_end(w, "s", row->waker - 1, one->wake_ns, number);
    strbuf_addstr(&name, "woken by ");
    strbuf_add(&name, waker->buf ? waker->buf : "", waker->len);
    begin_event(w, "X", row->thread);
    strbuf_addstr(sb, ",\"cat\":\"wake\",\"name\":");
    add_text(sb, &name);
    write_end(w, "f", row->thread, one->wake_ns, number);
    strbuf_release(&name);
}

void chromewaits_write(struct outstream *out, const struct waitlist *waits)
{
    struct writer w = {.out = out, .w = waits};
    uint32_t *leaf = xcalloc(waits->t->n, sizeof *leaf);

    write_stacks(&w, leaf);
    strbuf_addstr(&out->sb, "\"traceEvents\":[");
    w.comma = "";
    write_names(&w);
    for (size_t i = 0; i < waits->n; i++) {
        const struct waitlist_wait *one = &waits->waits[i];
        const struct waitlist_row *row = waitlist_row(waits, one);

        if (row->node == FRAMETREE_NONE || !waits->threads[row->thread].tid)
            continue;
        if (!one->alone) {
            write_sum(&w, one, i + 1);
            continue;
        }
        write_wait(&w, one);
        if (one->wake_ns && waits->threads[row->waker - 1].tid)
            write_wake(&w, one, i + 1, leaf);
    }
    strbuf_addch(&out->sb, ']');
    free(leaf);
}
