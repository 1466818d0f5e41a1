/*
 * All steps of all traces are sorted by time and cut into moments. One pass then adds up the
 * changes of one moment by stack, and appends each sum that is not 0 to its stack's changes, as
 * two numbers: the number of moments since the one before, and the number of bytes. If that
 * becomes too much, it begins again with half as many moments.
 *
 * A stack's live blocks and its mappings are two histories. Their texts come from the aggregate,
 * which writes each stack with its sum: the sum is the number of its history.
 */
#include "fold/timeline_text.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/trace/varint_base64.h"
#include "common/trace/trace_timeline.h"
#include "common/trace/wrapping.h"
#include "fold/row_values.h"
#include "fold/nodestacks.h"

#define US ((uint64_t)1000)

/* A stack's changes over time. */
struct history {
    uint32_t stack;
    uint32_t moment; /* of the change that is being added up, plus one; 0: none */
    uint32_t before; /* of the change before it, plus one */
    int64_t change;
    uint8_t *bytes; /* its changes, 7 bits a byte */
    size_t len, room;
};

/* The histories of one view: of mappings, or of all other memory. */
struct kind {
    const char *view;
    int64_t (*value)(const struct trace *t, const struct trace_row *r);
    uint32_t **history_of; /* by trace and row: the number of its history plus one, 0: none */
    struct history *list;
    size_t n, room;
};

/* One step of one trace. */
struct at {
    const struct trace_timeline *tl;
    const struct trace_step *step;
    size_t trace;
};

/* One of the moments in the text. */
struct moment {
    uint64_t ns;
    int64_t live, mapped, rss;
};

struct run {
    const struct timeline_text_input *in;
    struct trace_timeline **own; /* made here, by trace; NULL: the trace has one */
    struct at *steps;
    size_t n, room;
    uint64_t zero_ns;
    struct moment *moments;
    size_t nmoments;
    struct kind kinds[2];
    size_t bytes;
};

/* ---- steps ---- */

static const struct trace_timeline *timeline_of(struct run *r, size_t i)
{
    const struct trace *t = r->in->traces[i];

    if (t->timeline || t->header.recorder != TRACE_RECORDER_MEM || !t->nmoments)
        return t->timeline;
    r->own[i] = trace_timeline_new();
    trace_timeline_add(r->own[i], t, NULL);
    return r->own[i];
}

static int by_time(const void *pa, const void *pb)
{
    const struct at *a = pa, *b = pb;

    if (a->step->ns != b->step->ns)
        return a->step->ns < b->step->ns ? -1 : 1;
    if (a->trace != b->trace)
        return a->trace < b->trace ? -1 : 1;
    return (a->step > b->step) - (a->step < b->step);
}

/* Gathers the steps. Those behind the last moment are the ends of processes, and are left out. */
static void gather_steps(struct run *r)
{
    for (size_t i = 0; i < r->in->ntraces; i++) {
        const struct trace_timeline *tl = timeline_of(r, i);

        if (!tl || !tl->n)
            continue;
        if (!r->zero_ns || tl->zero_ns < r->zero_ns)
            r->zero_ns = tl->zero_ns;
        for (size_t k = 0; k < tl->n; k++) {
            GROW(r->steps, r->n, r->room);
            r->steps[r->n++] = (struct at){tl, &tl->steps[k], i};
        }
    }
    if (r->n)
        qsort(r->steps, r->n, sizeof *r->steps, by_time);
    while (r->n && r->steps[r->n - 1].step->end)
        r->n--;
}

/* ---- stacks ---- */

static int64_t is_live(const struct trace *t FLAME_UNUSED, const struct trace_row *r)
{
    return trace_row_counts(r);
}

static int64_t is_mapped(const struct trace *t FLAME_UNUSED, const struct trace_row *r)
{
    return (r->flags & TRACE_ROW_MAPPED) != 0;
}

static uint32_t *history_at(struct kind *kind, size_t trace, uint32_t row)
{
    return kind->history_of[trace] ? &kind->history_of[trace][row] : NULL;
}

/* Rows of one stack have one history: `of` is by stack. */
static void find_histories(struct run *r, struct kind *kind, size_t trace, uint32_t **of,
                           size_t *of_room)
{
    const struct timeline_text_input *in = r->in;
    const struct trace *t = in->traces[trace];
    const struct view view = {.name = kind->view,
                              .recorder = TRACE_RECORDER_MEM,
                              .value = kind->value,
                              .shape = VIEW_STACK};
    struct filter_report left_out = FILTER_REPORT_INIT;
    struct row_value_options io = {.view = &view,
                                   .tid = in->opt->tid,
                                   .own = in->opt->own,
                                   .comms = in->opt->comms,
                                   .ncomms = in->opt->ncomms,
                                   .left_out = &left_out};
    struct row_values items = row_values_of_rows(t, &io);
    struct nodestack_options no = {.shape = VIEW_STACK, .pid = in->opt->pid, .tid = in->opt->tid};

    no.stacks = xcalloc(items.n + 1, sizeof *no.stacks);
    nodestacks_add(t, in->frames[trace], &items, &no);
    kind->history_of[trace] = xcalloc((size_t)t->row_limit + 1, sizeof **kind->history_of);
    for (size_t i = 0; i < items.n; i++) {
        uint32_t stack = no.stacks[i];

        GROW_FILLED(*of, stack, *of_room, 0);
        if (!(*of)[stack]) {
            GROW(kind->list, kind->n, kind->room);
            kind->list[kind->n++] = (struct history){.stack = stack};
            (*of)[stack] = (uint32_t)kind->n;
        }
        kind->history_of[trace][items.item[i].value] = (*of)[stack];
    }
    free(no.stacks);
    free(items.item);
    filter_report_release(&left_out);
}

static void find_stacks(struct run *r, struct kind *kind)
{
    uint32_t *of = NULL;
    size_t room = 0;

    kind->history_of = xcalloc(r->in->ntraces + 1, sizeof *kind->history_of);
    for (size_t i = 0; i < r->in->ntraces; i++)
        if (r->own[i] || r->in->traces[i]->timeline)
            find_histories(r, kind, i, &of, &room);
    free(of);
}

/* ---- moments ---- */

static void end_change(struct run *r, struct history *h)
{
    uint8_t *at;

    if (!h->moment || !h->change) {
        h->change = 0;
        return;
    }
    GROW_TO(h->bytes, h->len + 20, h->room);
    at = trace_put_number(h->bytes + h->len, h->moment - h->before - (h->before ? 0 : 1));
    at = trace_put_number(at, trace_fold_sign((uint64_t)h->change));
    r->bytes += (size_t)(at - h->bytes) - h->len;
    h->len = (size_t)(at - h->bytes);
    h->before = h->moment;
    h->change = 0;
}

static void add_change(struct run *r, struct kind *kind, size_t trace, uint32_t row, int64_t bytes,
                       uint32_t moment)
{
    const uint32_t *of = history_at(kind, trace, row);
    struct history *h;

    if (!of || !*of)
        return;
    h = &kind->list[*of - 1];
    if (h->moment != moment + 1) {
        end_change(r, h);
        h->moment = moment + 1;
    }
    h->change = (int64_t)((uint64_t)h->change + (uint64_t)bytes);
}

static void begin_moments(struct run *r)
{
    r->bytes = 0;
    for (size_t k = 0; k < ARRAY_LEN(r->kinds); k++)
        for (size_t i = 0; i < r->kinds[k].n; i++) {
            struct history *h = &r->kinds[k].list[i];

            h->moment = h->before = 0;
            h->change = 0;
            h->len = 0;
        }
}

static void add_step(struct run *r, const struct at *at, uint32_t moment)
{
    struct trace_step_changes c = trace_step_changes(at->tl, at->step);
    struct moment *m = &r->moments[moment];
    uint32_t row;
    int64_t bytes;

    m->ns = at->step->ns;
    m->live = wrapping_add(m->live, at->step->live);
    m->mapped = wrapping_add(m->mapped, at->step->mapped);
    m->rss = wrapping_add(m->rss, at->step->rss);
    while (trace_step_next(&c, &row, &bytes))
        for (size_t k = 0; k < ARRAY_LEN(r->kinds); k++)
            add_change(r, &r->kinds[k], at->trace, row, bytes, moment);
}

/* Makes the histories with so many moments. False: they take too many bytes. */
static bool print(struct run *r, size_t nmoments, size_t most_bytes)
{
    r->nmoments = nmoments;
    memset(r->moments, 0, nmoments * sizeof *r->moments);
    begin_moments(r);
    for (size_t i = 0; i < r->n; i++) {
        add_step(r, &r->steps[i], (uint32_t)(i * nmoments / r->n));
        if (r->bytes > most_bytes && nmoments > 2)
            return false;
    }
    for (size_t k = 0; k < ARRAY_LEN(r->kinds); k++)
        for (size_t i = 0; i < r->kinds[k].n; i++)
            end_change(r, &r->kinds[k].list[i]);
    return r->bytes <= most_bytes || nmoments <= 2;
}

/* ---- text ---- */

static void add_axis_word(struct strbuf *sb, const struct run *r, const char *key,
                          int64_t (*of)(const struct moment *m, const struct run *r))
{
    struct varint_writer p;

    strbuf_addf(sb, " %s=", key);
    varint_begin(&p, sb);
    for (size_t i = 0; i < r->nmoments; i++)
        varint_add_signed(&p, of(&r->moments[i], r));
    varint_end(&p);
}

static int64_t live_of(const struct moment *m, const struct run *r FLAME_UNUSED)
{
    return m->live;
}

static int64_t mapped_of(const struct moment *m, const struct run *r FLAME_UNUSED)
{
    return m->mapped;
}

static int64_t rss_of(const struct moment *m, const struct run *r FLAME_UNUSED)
{
    return m->rss;
}

/* The time since the beginning in whole microseconds, rounded up as in trace_moment_shown. */
static uint64_t shown_us(const struct run *r, uint64_t ns)
{
    return ns > r->zero_ns ? (ns - r->zero_ns + US - 1) / US : 0;
}

static int64_t us_of(const struct moment *m, const struct run *r)
{
    uint64_t before = m == r->moments ? 0 : shown_us(r, m[-1].ns);

    return (int64_t)(shown_us(r, m->ns) - before);
}

static void write_axis(const struct run *r, aggregate_sink sink, void *opaque)
{
    struct strbuf sb = STRBUF_INIT;
    struct varint_writer p;

    strbuf_addf(&sb, "# moments: axis n=%zu zero=", r->nmoments);
    varint_begin(&p, &sb);
    varint_add(&p, r->zero_ns);
    varint_end(&p);
    add_axis_word(&sb, r, "us", us_of);
    add_axis_word(&sb, r, "live", live_of);
    add_axis_word(&sb, r, "mapped", mapped_of);
    add_axis_word(&sb, r, "rss", rss_of);
    strbuf_addch(&sb, '\n');
    sink(opaque, sb.buf, sb.len);
    strbuf_release(&sb);
}

/* Writes a mark. Its name may hold any bytes, so it is packed, too, one number a byte. */
static void write_mark(const struct run *r, const struct trace_timeline_mark *m,
                       aggregate_sink sink, void *opaque)
{
    struct strbuf sb = STRBUF_INIT;
    struct varint_writer p;

    strbuf_addf(&sb, "# moments: mark us=");
    varint_begin(&p, &sb);
    varint_add(&p, shown_us(r, m->ns));
    varint_end(&p);
    strbuf_addstr(&sb, " name=");
    varint_begin(&p, &sb);
    for (const char *s = m->name; *s; s++)
        varint_add(&p, (unsigned char)*s);
    varint_end(&p);
    strbuf_addch(&sb, '\n');
    sink(opaque, sb.buf, sb.len);
    strbuf_release(&sb);
}

static void write_marks(const struct run *r, aggregate_sink sink, void *opaque)
{
    for (size_t i = 0; i < r->in->ntraces; i++) {
        const struct trace_timeline *tl = r->own[i] ? r->own[i] : r->in->traces[i]->timeline;

        for (size_t k = 0; tl && k < tl->nmarks; k++)
            write_mark(r, &tl->marks[k], sink, opaque);
    }
}

/* State while the aggregate writes stacks, each with the number of its history. */
struct writing {
    const struct kind *kind;
    aggregate_sink sink;
    void *opaque;
    struct strbuf sb;
};

static void write_stack(void *opaque, const char *line, size_t len)
{
    struct writing *w = opaque;
    size_t digits = len;
    const struct history *h;
    struct varint_writer p;

    while (digits && line[digits - 1] != ' ')
        digits--;
    h = &w->kind->list[strtoul(line + digits, NULL, 10) - 1];
    strbuf_clear(&w->sb);
    strbuf_addf(&w->sb, "# moments: %s ", w->kind->view);
    strbuf_add(&w->sb, line, digits);
    strbuf_addstr(&w->sb, "changes=");
    varint_begin(&p, &w->sb);
    for (size_t i = 0; i < h->len; i++)
        varint_add_byte(&p, h->bytes[i]);
    varint_end(&p);
    strbuf_addch(&w->sb, '\n');
    w->sink(w->opaque, w->sb.buf, w->sb.len);
}

static void write_kind(const struct run *r, const struct kind *kind, aggregate_sink sink,
                       void *opaque)
{
    struct writing w = {.kind = kind, .sink = sink, .opaque = opaque, .sb = STRBUF_INIT};
    size_t n;

    free(aggregate_take_sums(r->in->to, &n));
    for (size_t i = 0; i < kind->n; i++)
        if (kind->list[i].len)
            aggregate_add(r->in->to, kind->list[i].stack, (int64_t)i + 1);
    aggregate_exclude(r->in->to, excludes_match, r->in->excludes);
    aggregate_write(r->in->to, write_stack, &w);
    free(aggregate_take_sums(r->in->to, &n));
    strbuf_release(&w.sb);
}

static void release(struct run *r)
{
    for (size_t k = 0; k < ARRAY_LEN(r->kinds); k++) {
        struct kind *kind = &r->kinds[k];

        for (size_t i = 0; i < kind->n; i++)
            free(kind->list[i].bytes);
        for (size_t i = 0; kind->history_of && i < r->in->ntraces; i++)
            free(kind->history_of[i]);
        free(kind->history_of);
        free(kind->list);
    }
    for (size_t i = 0; i < r->in->ntraces; i++)
        trace_timeline_free(r->own[i]);
    free(r->own);
    free(r->steps);
    free(r->moments);
}

void timeline_text_write(const struct timeline_text_input *in, aggregate_sink sink, void *opaque)
{
    struct run r = {
        .in = in,
        .kinds = {{.view = "live", .value = is_live}, {.view = "mmap", .value = is_mapped}}};
    size_t nmoments;

    r.own = xcalloc(in->ntraces + 1, sizeof *r.own);
    gather_steps(&r);
    nmoments = r.n < TIMETEXT_MOMENTS ? r.n : TIMETEXT_MOMENTS;
    r.moments = xcalloc(nmoments + 1, sizeof *r.moments);
    for (size_t k = 0; nmoments && k < ARRAY_LEN(r.kinds); k++)
        find_stacks(&r, &r.kinds[k]);
    while (nmoments && !print(&r, nmoments, in->most_bytes ? in->most_bytes : TIMETEXT_BYTES))
        nmoments = (nmoments + 1) / 2;
    if (nmoments) {
        write_axis(&r, sink, opaque);
        write_marks(&r, sink, opaque);
        for (size_t k = 0; k < ARRAY_LEN(r.kinds); k++)
            write_kind(&r, &r.kinds[k], sink, opaque);
    }
    release(&r);
}
