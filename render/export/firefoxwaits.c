/*
 * A wait is a marker of its thread from its begin to its end, with its stack as cause. Markers may
 * overlap, so sums of short waits are among them. A waking call is a marker of its own in the
 * waker, and a flow leads from it to the wait. Flows are strings, one for each.
 *
 * The stack of a waker grows from its leaf to its root in the tree, so it has rows of its own in
 * the table of stacks.
 */
#include "render/export/firefoxwaits.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/trace_format.h"
#include "render/framename.h"
#include "render/text/json.h"
#include "render/text/offkind.h"

enum { CATEGORY_WAKER = 4, CATEGORY_OFF_CPU = 5 }; /* export_firefox.c has the list */
enum { PHASE_INSTANT = 0, PHASE_INTERVAL = 1 };

static const char schemas[] =
    "{\"name\":\"Wait\",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
    "\"tooltipLabel\":\"{marker.name}\",\"chartLabel\":\"{marker.name}\","
    "\"tableLabel\":\"{marker.data.kind}, woken by {marker.data.waker}\",\"fields\":["
    "{\"key\":\"kind\",\"label\":\"Kind\",\"format\":\"string\"},"
    "{\"key\":\"waker\",\"label\":\"Woken by\",\"format\":\"unique-string\"},"
    "{\"key\":\"flow\",\"label\":\"Wake\",\"format\":\"terminating-flow-id\"},"
    "{\"key\":\"runq\",\"label\":\"Waited for a CPU\",\"format\":\"duration\"},"
    "{\"key\":\"other\",\"label\":\"Did not wait\",\"format\":\"duration\"}]},\n"
    "{\"name\":\"Waits\",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
    "\"tooltipLabel\":\"{marker.name}\",\"chartLabel\":\"{marker.name}\","
    "\"tableLabel\":\"{marker.data.kind}, {marker.data.waits} waits\",\"fields\":["
    "{\"key\":\"kind\",\"label\":\"Kind\",\"format\":\"string\"},"
    "{\"key\":\"waits\",\"label\":\"Number of waits\",\"format\":\"integer\"},"
    "{\"key\":\"asleep\",\"label\":\"Asleep\",\"format\":\"duration\"},"
    "{\"key\":\"runq\",\"label\":\"Waited for a CPU\",\"format\":\"duration\"},"
    "{\"key\":\"longest\",\"label\":\"Longest\",\"format\":\"duration\"}]},\n"
    "{\"name\":\"Wake\",\"display\":[\"marker-chart\",\"marker-table\"],"
    "\"tooltipLabel\":\"{marker.name}\",\"fields\":["
    "{\"key\":\"flow\",\"label\":\"Wake\",\"format\":\"flow-id\"}]}";

/* ---- strings and stacks ---- */

static uint32_t clean_string(struct functable *ft, struct strbuf *sb, const char *s, size_t len)
{
    strbuf_clear(sb);
    framename_add_clean(sb, s, len);
    return functable_string(ft, sb->buf ? sb->buf : "", sb->len);
}

/* Whether an entry becomes a marker. */
static bool is_shown(const struct waitlist *w, const struct waitlist_wait *one)
{
    const struct waitlist_row *row = waitlist_row(w, one);

    return row->node != FRAMETREE_NONE && w->threads[row->thread].tid;
}

static bool has_wake(const struct waitlist *w, const struct waitlist_wait *one)
{
    return is_shown(w, one) && one->wake_ns && w->threads[waitlist_row(w, one)->waker - 1].tid;
}

/* The name of an entry: that of its stack's leaf, for a sum with the number of waits. */
static uint32_t name_of(const struct firefoxwaits *f, struct functable *ft, struct strbuf *sb,
                        const struct waitlist_wait *one)
{
    const struct frametree_name *leaf = waitlist_leaf(&f->w, waitlist_row(&f->w, one)->node);
    uint32_t name = ft->funcs[ft->places[leaf - f->w.t->names].func].name;
    const char *text;
    size_t len;

    if (one->kind != TRACE_INTERVAL_SUM)
        return name;
    text = functable_text(ft, name, &len);
    strbuf_clear(sb);
    strbuf_addf(sb, "%" PRIu64 " waits: ", one->times);
    strbuf_add(sb, text, len);
    return functable_string(ft, sb->buf, sb->len);
}

static void add_strings(struct firefoxwaits *f, struct functable *ft)
{
    struct strbuf sb = STRBUF_INIT;

    f->names = xcalloc(f->w.n + 1, sizeof *f->names);
    f->flows = xcalloc(f->w.n + 1, sizeof *f->flows);
    f->wakers = xcalloc(f->w.lanes->nthreads + 1, sizeof *f->wakers);
    for (size_t i = 0; i < f->w.lanes->nthreads; i++) {
        const struct strbuf *name = &f->w.lanes->threads[i].name;

        f->wakers[i] = clean_string(ft, &sb, name->buf ? name->buf : "", name->len);
    }
    for (size_t i = 0; i < f->w.n; i++) {
        if (!is_shown(&f->w, &f->w.waits[i]))
            continue;
        f->names[i] = name_of(f, ft, &sb, &f->w.waits[i]);
        if (!has_wake(&f->w, &f->w.waits[i]))
            continue;
        strbuf_clear(&sb);
        strbuf_addf(&sb, "wake %zx", i);
        f->flows[i] = functable_string(ft, sb.buf, sb.len);
    }
    strbuf_release(&sb);
}

static void add_waker_stack(struct firefoxwaits *f, uint32_t node)
{
    const struct frametree *t = f->w.t;
    uint32_t before = UINT32_MAX;

    for (uint32_t at = node; at && !waitlist_is_border(&f->w, at); at = t->nodes[at].parent) {
        GROW(f->stacks, f->nstacks, f->stacks_room);
        f->stacks[f->nstacks] = (struct firefoxwaits_stack){t->nodes[at].name, before};
        before = (uint32_t)(t->n - 1 + f->nstacks++);
    }
    f->stack_of[node] = before + 1;
}

/* Lists the wakes of each thread, and makes their stacks. */
static void add_wakes(struct firefoxwaits *f)
{
    size_t threads = f->w.lanes->nthreads, *next;

    f->stack_of = xcalloc(f->w.t->n, sizeof *f->stack_of);
    f->first_wake = xcalloc(threads + 2, sizeof *f->first_wake);
    f->wakes = xcalloc(f->w.n + 1, sizeof *f->wakes);
    next = f->first_wake + 1; /* counts first, then where the next wake of a thread goes */
    for (size_t i = 0; i < f->w.n; i++)
        if (has_wake(&f->w, &f->w.waits[i]))
            next[waitlist_row(&f->w, &f->w.waits[i])->waker]++;
    for (size_t i = 0; i < threads; i++)
        next[i + 1] += next[i];
    for (size_t i = 0; i < f->w.n; i++) {
        const struct waitlist_row *row = waitlist_row(&f->w, &f->w.waits[i]);

        if (!has_wake(&f->w, &f->w.waits[i]))
            continue;
        f->wakes[next[row->waker - 1]++] = i;
        if (waitlist_waking_call(&f->w, row->wake_node) && !f->stack_of[row->wake_node])
            add_waker_stack(f, row->wake_node);
    }
}

void firefoxwaits_init(struct firefoxwaits *f, const struct frametree *t,
                       const struct render_options *o, struct functable *ft)
{
    *f = (struct firefoxwaits){.ft = ft};
    if (!waitlist_init(&f->w, t, o->lanes, o->reverse))
        return;
    f->any = waitlist_any(&f->w);
    if (!f->any)
        return;
    add_strings(f, ft);
    add_wakes(f);
    for (size_t i = 0; i < o->lanes->nthreads; i++)
        f->nthreads += f->w.threads[i].tid > 0;
    waitlist_report(&f->w, "firefox");
}

void firefoxwaits_release(struct firefoxwaits *f)
{
    waitlist_release(&f->w);
    free(f->names);
    free(f->flows);
    free(f->wakers);
    free(f->stacks);
    free(f->stack_of);
    free(f->wakes);
    free(f->first_wake);
    *f = (struct firefoxwaits){.any = false};
}

void firefoxwaits_add_schemas(const struct firefoxwaits *f, struct strbuf *sb)
{
    if (f->any)
        strbuf_addstr(sb, schemas);
}

/* ---- markers ---- */

/* A column of the table of markers: the cells of a wait, and of a waking call. */
struct column {
    const char *name;
    void (*of_wait)(const struct firefoxwaits *f, struct strbuf *sb, size_t i);
    void (*of_wake)(const struct firefoxwaits *f, struct strbuf *sb, size_t i);
};

static void add_ms(struct strbuf *sb, uint64_t ns)
{
    strbuf_addf(sb, "%" PRIu64 ".%06" PRIu64, ns / 1000000, ns % 1000000);
}

static void add_duration(struct strbuf *sb, const char *key, uint64_t ns)
{
    if (!ns)
        return;
    strbuf_addf(sb, ",\"%s\":", key);
    add_ms(sb, ns);
}

static void add_cause(struct strbuf *sb, uint64_t at_ns, uint32_t stack)
{
    strbuf_addstr(sb, ",\"cause\":{\"time\":");
    add_ms(sb, at_ns);
    strbuf_addf(sb, ",\"stack\":%" PRIu32 "}", stack);
}

static void wait_data(const struct firefoxwaits *f, struct strbuf *sb, size_t i)
{
    const struct waitlist_wait *one = &f->w.waits[i];
    const struct waitlist_row *row = waitlist_row(&f->w, one);
    const char *kind = offkind_name(row->kind);
    uint64_t length = one->end_ns - one->begin_ns, waited = one->ns + one->runq_ns;

    strbuf_addf(sb, "{\"type\":\"%s\",\"kind\":\"%s\"",
                one->kind == TRACE_INTERVAL_SUM ? "Waits" : "Wait", kind ? kind : "other");
    if (one->kind == TRACE_INTERVAL_SUM) {
        strbuf_addf(sb, ",\"waits\":%" PRIu64, one->times);
        add_duration(sb, "asleep", one->ns);
        add_duration(sb, "longest", one->longest_ns);
    } else {
        add_duration(sb, "other", waited < length ? length - waited : 0);
        if (row->waker && one->kind == TRACE_INTERVAL_SLEEP)
            strbuf_addf(sb, ",\"waker\":%" PRIu32, f->wakers[row->waker - 1]);
        if (one->kind == TRACE_INTERVAL_PART)
            strbuf_addstr(sb, ",\"part\":true");
    }
    add_duration(sb, "runq", one->runq_ns);
    if (has_wake(&f->w, one))
        strbuf_addf(sb, ",\"flow\":%" PRIu32, f->flows[i]);
    if (row->node)
        add_cause(sb, one->begin_ns, row->node - 1);
    strbuf_addch(sb, '}');
}

static void wake_data(const struct firefoxwaits *f, struct strbuf *sb, size_t i)
{
    uint32_t node = waitlist_row(&f->w, &f->w.waits[i])->wake_node;

    strbuf_addf(sb, "{\"type\":\"Wake\",\"flow\":%" PRIu32, f->flows[i]);
    if (node != FRAMETREE_NONE && f->stack_of[node])
        add_cause(sb, f->w.waits[i].wake_ns, f->stack_of[node] - 1);
    strbuf_addch(sb, '}');
}

static void wait_name(const struct firefoxwaits *f, struct strbuf *sb, size_t i)
{
    strbuf_addf(sb, "%" PRIu32, f->names[i]);
}

/* The waking call, or if it is not known the name of the wait. */
static void wake_name(const struct firefoxwaits *f, struct strbuf *sb, size_t i)
{
    const struct waitlist_row *row = waitlist_row(&f->w, &f->w.waits[i]);
    const struct frametree_name *call = waitlist_waking_call(&f->w, row->wake_node);

    strbuf_addf(sb, "%" PRIu32,
                call ? f->ft->funcs[f->ft->places[call - f->w.t->names].func].name : f->names[i]);
}

static void wait_begin(const struct firefoxwaits *f, struct strbuf *sb, size_t i)
{
    add_ms(sb, f->w.waits[i].begin_ns);
}

static void wait_end(const struct firefoxwaits *f, struct strbuf *sb, size_t i)
{
    add_ms(sb, f->w.waits[i].end_ns);
}

static void wake_time(const struct firefoxwaits *f, struct strbuf *sb, size_t i)
{
    add_ms(sb, f->w.waits[i].wake_ns);
}

static void no_time(const struct firefoxwaits *f, struct strbuf *sb, size_t i)
{
    (void)f;
    (void)i;
    strbuf_addstr(sb, "null");
}

static void wait_phase(const struct firefoxwaits *f, struct strbuf *sb, size_t i)
{
    (void)f;
    (void)i;
    strbuf_addf(sb, "%d", PHASE_INTERVAL);
}

static void wake_phase(const struct firefoxwaits *f, struct strbuf *sb, size_t i)
{
    (void)f;
    (void)i;
    strbuf_addf(sb, "%d", PHASE_INSTANT);
}

static void wait_category(const struct firefoxwaits *f, struct strbuf *sb, size_t i)
{
    (void)f;
    (void)i;
    strbuf_addf(sb, "%d", CATEGORY_OFF_CPU);
}

static void wake_category(const struct firefoxwaits *f, struct strbuf *sb, size_t i)
{
    (void)f;
    (void)i;
    strbuf_addf(sb, "%d", CATEGORY_WAKER);
}

static const struct column columns[] = {
    {"data", wait_data, wake_data},       {"name", wait_name, wake_name},
    {"startTime", wait_begin, wake_time}, {"endTime", wait_end, no_time},
    {"phase", wait_phase, wake_phase},    {"category", wait_category, wake_category},
};

/* Writes a column for the markers of a thread; returns how many there are. */
static size_t add_column(const struct firefoxwaits *f, struct outstream *out, size_t thread,
                         const struct column *c)
{
    const struct waitlist_thread *t = &f->w.threads[thread];
    size_t n = 0;

    strbuf_addf(&out->sb, "\"%s\":[", c->name);
    for (size_t i = t->first; i < t->first + t->n; i++) {
        if (!is_shown(&f->w, &f->w.waits[i]))
            continue;
        strbuf_addstr(&out->sb, n++ ? "," : "");
        c->of_wait(f, &out->sb, i);
        outstream_some(out);
    }
    for (size_t k = f->first_wake[thread]; k < f->first_wake[thread + 1]; k++) {
        strbuf_addstr(&out->sb, n++ ? "," : "");
        c->of_wake(f, &out->sb, f->wakes[k]);
        outstream_some(out);
    }
    strbuf_addstr(&out->sb, "],\n");
    return n;
}

static void add_thread(const struct firefoxwaits *f, struct outstream *out, size_t thread)
{
    const struct waitlist_thread *t = &f->w.threads[thread];
    const struct lanes_thread *l = &f->w.lanes->threads[thread];
    const struct strbuf *process = l->title.len ? &l->title : &l->name;
    uint64_t begin = t->end_ns ? t->begin_ns : 0;
    struct strbuf *sb = &out->sb;
    size_t n = 0;

    strbuf_addstr(sb, ",\n{\"processType\":\"default\",\"processStartupTime\":0,"
                      "\"processShutdownTime\":null,\"registerTime\":");
    add_ms(sb, begin);
    strbuf_addstr(sb, ",\"unregisterTime\":");
    add_ms(sb, t->end_ns);
    strbuf_addf(sb,
                ",\"pausedRanges\":[],\"isMainThread\":%s,\"pid\":\"%" PRIu32 "\",\"tid\":%" PRIu32
                ",\"name\":",
                t->pid == t->tid ? "true" : "false", t->pid, t->tid);
    json_add_string(sb, l->name.buf ? l->name.buf : "", l->name.len, 0);
    strbuf_addstr(sb, ",\"processName\":");
    json_add_string(sb, process->buf ? process->buf : "", process->len, 0);
    strbuf_addstr(sb, ",\n\"samples\":{\"stack\":[],\"time\":[],\"weight\":null,"
                      "\"weightType\":\"samples\",\"length\":0},\n\"markers\":{");
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        n = add_column(f, out, thread, &columns[i]);
    strbuf_addf(sb, "\"length\":%zu}}", n);
}

void firefoxwaits_add_threads(const struct firefoxwaits *f, struct outstream *out)
{
    if (!f->any)
        return;
    for (size_t i = 0; i < f->w.lanes->nthreads; i++)
        if (f->w.threads[i].tid)
            add_thread(f, out, i);
}
