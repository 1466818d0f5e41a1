/*
 * Joining parts: the trace of the last one is the result, and the counts from before the first are
 * subtracted from its rows. Where parts between are missing, their counts are subtracted as well:
 * the counts that the next part has from before it, less those at the end of the part before the
 * gap.
 */
#include "common/trace/trace_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/trace/lifeclass.h"
#include "common/trace/trace_reader_impl.h"
#include "common/trace/trace_builder.h"

static const uint16_t header_counters[TRACE_PART_HEADER] = {
    offsetof(struct trace_header, lost_calls),       offsetof(struct trace_header, lost_bytes),
    offsetof(struct trace_header, lost_frees),       offsetof(struct trace_header, fallback_stacks),
    offsetof(struct trace_header, sandbox_calls),    offsetof(struct trace_header, sandbox_bytes),
    offsetof(struct trace_header, lost_mappings),    offsetof(struct trace_header, paused_calls),
    offsetof(struct trace_header, paused_bytes),     offsetof(struct trace_header, kept_snapshots),
    offsetof(struct trace_header, unkept_snapshots), offsetof(struct trace_header, unjudged_frees),
};

static uint64_t *header_counter(struct trace_header *h, size_t i)
{
    return (uint64_t *)((char *)h + header_counters[i]);
}

/* Whether the row's counters grow over time. Verdicts and measurements belong to one moment, the
 * last: none of their counts is from before the part. */
static bool adds_up(const struct trace *t, const struct trace_row *r)
{
    if (!trace_row_used(r) || r->flags & (TRACE_ROW_VERDICTS | TRACE_ROW_LOOKED))
        return false;
    return !(r->flags & TRACE_ROW_CLASS) ||
           !lifeclass_is_ages(lifeclass_of(t->nodes[r->node].addr));
}

static void row_counters(const struct trace_row *r, uint64_t out[TRACE_PART_ROW])
{
    out[0] = r->alloc_bytes;
    out[1] = r->alloc_calls;
    out[2] = r->free_bytes;
    out[3] = r->free_calls;
    out[4] = r->temp_calls;
}

static void thread_counters(const struct trace_thread *th, uint64_t out[TRACE_PART_THREAD])
{
    out[0] = th->events;
    out[1] = th->cost_samples;
    out[2] = th->cost_ns;
    out[3] = th->skipped;
}

void trace_counted_release(struct trace_counted *c)
{
    free(c->rows);
    free(c->threads);
    *c = (struct trace_counted){.rows = NULL};
}

static void make_room(struct trace_counted *c, const struct trace *t)
{
    c->nrows = t->priv->rows_read;
    c->nthreads = t->thread_limit;
    c->rows = xcalloc((size_t)c->nrows + 1, sizeof *c->rows);
    c->threads = xcalloc((size_t)c->nthreads + 1, sizeof *c->threads);
}

void trace_counted_take(struct trace_counted *c, const struct trace *t)
{
    struct trace_header h = t->header;

    trace_counted_release(c);
    make_room(c, t);
    for (size_t i = 0; i < TRACE_PART_HEADER; i++)
        c->header[i] = *header_counter(&h, i);
    for (uint32_t id = 0; id < c->nrows; id++)
        if (adds_up(t, &t->rows[id]))
            row_counters(&t->rows[id], c->rows[id]);
    for (uint32_t id = 0; id < c->nthreads; id++)
        if (trace_thread_at(t, id))
            thread_counters(&t->threads[id], c->threads[id]);
}

/* ---- TRACE_META_PART ---- */

static void put_number(struct strbuf *out, uint64_t n)
{
    uint8_t bytes[10];

    strbuf_add(out, bytes, (size_t)(trace_put_number(bytes, n) - bytes));
}

static bool all_zero(const uint64_t *counters, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (counters[i])
            return false;
    return true;
}

/* Appends the counters that are not all 0. Returns the number of records, which the caller writes
 * in front of them. */
static uint32_t put_counters(struct strbuf *out, const uint64_t *counters, uint32_t records,
                             size_t each)
{
    uint32_t before = 0, n = 0;

    for (uint32_t id = 0; id < records; id++) {
        const uint64_t *of = counters + id * each;

        if (all_zero(of, each))
            continue;
        put_number(out, id - before);
        for (size_t i = 0; i < each; i++)
            put_number(out, of[i]);
        before = id;
        n++;
    }
    return n;
}

void trace_part_encode(struct strbuf *out, const struct trace_part_facts *facts,
                       const struct trace_counted *earlier)
{
    struct trace_part_facts f = *facts;
    size_t at = out->len;

    strbuf_add(out, &f, sizeof f);
    for (size_t i = 0; i < TRACE_PART_HEADER; i++)
        put_number(out, earlier->header[i]);
    f.rows =
        earlier->nrows ? put_counters(out, earlier->rows[0], earlier->nrows, TRACE_PART_ROW) : 0;
    f.threads = earlier->nthreads
                    ? put_counters(out, earlier->threads[0], earlier->nthreads, TRACE_PART_THREAD)
                    : 0;
    memcpy(out->buf + at, &f, sizeof f);
}

/* Reads counters. Counters of records that the trace does not have, as in a damaged file, are
 * skipped. */
static bool take_counters(const uint8_t **s, const uint8_t *end, uint32_t n, uint64_t *counters,
                          uint32_t records, size_t each)
{
    uint64_t id = 0, more, value;

    for (uint32_t k = 0; k < n; k++) {
        if (!trace_take_number(s, end, &more) || more > UINT32_MAX - id)
            return false;
        id += more;
        for (size_t i = 0; i < each; i++) {
            if (!trace_take_number(s, end, &value))
                return false;
            if (counters && id < records)
                counters[id * each + i] = value;
        }
    }
    return true;
}

static bool decode(const struct trace *t, const uint8_t *s, const uint8_t *end,
                   const struct trace_part_facts *f, struct trace_counted *c)
{
    uint64_t value;

    if (f->number == 0 || f->begin_ns > f->end_ns || t->header.recorder != TRACE_RECORDER_MEM)
        return false;
    for (size_t i = 0; i < TRACE_PART_HEADER; i++) {
        if (!trace_take_number(&s, end, &value))
            return false;
        if (c)
            c->header[i] = value;
    }
    return take_counters(&s, end, f->rows, c ? c->rows[0] : NULL, c ? c->nrows : 0,
                         TRACE_PART_ROW) &&
           take_counters(&s, end, f->threads, c ? c->threads[0] : NULL, c ? c->nthreads : 0,
                         TRACE_PART_THREAD);
}

/* Finds the first record of that type; its payload is *s, *size bytes. Metadata has been
 * checked. */
static bool find_record(const struct trace *t, const uint8_t **s, uint32_t *size)
{
    const struct trace_source *src = &t->priv->src;
    struct trace_meta meta;

    for (size_t i = 0; i < src->nparts; i++) {
        const struct trace_part *p = &src->parts[i];
        uint64_t at = p->at + sizeof(struct trace_segment), end = p->at + p->size;

        while (p->type == TRACE_SEG_META && end > at && end - at >= sizeof meta) {
            memcpy(&meta, src->data + at, sizeof meta);
            if (meta.type == TRACE_META_END || meta.size > end - at - sizeof meta)
                break;
            if (meta.type == TRACE_META_PART) {
                *s = src->data + at + sizeof meta;
                *size = meta.size;
                return true;
            }
            at += sizeof meta + (((uint64_t)meta.size + 7) & ~(uint64_t)7);
        }
    }
    return false;
}

int trace_part_of(const struct trace *t, struct trace_part_facts *facts,
                  struct trace_counted *earlier)
{
    const uint8_t *s;
    uint32_t size;

    if (!find_record(t, &s, &size))
        return 0;
    if (size >= sizeof *facts) {
        memcpy(facts, s, sizeof *facts);
        if (earlier)
            make_room(earlier, t);
        if (decode(t, s + sizeof *facts, s + size, facts, earlier))
            return 1;
        if (earlier)
            trace_counted_release(earlier);
    }
    return flame_error(FLAME_USAGE,
                       "%s: its account of the parts before it makes no sense; use the other parts",
                       t->path);
}

/* ---- a part's own counts ---- */

static void settle_row(struct trace *t, struct trace_builder *g, uint32_t id,
                       const uint64_t earlier[TRACE_PART_ROW])
{
    struct trace_row *r = &t->priv->rows[id], live = *r;

    r->alloc_bytes -= earlier[0];
    r->alloc_calls -= earlier[1];
    r->free_bytes -= earlier[2];
    r->free_calls -= earlier[3];
    r->temp_calls -= earlier[4];
    live.alloc_bytes = earlier[0] - earlier[2];
    live.alloc_calls = earlier[1] - earlier[3];
    if (r->flags & (TRACE_ROW_CLASS | TRACE_ROW_FAULT | TRACE_ROW_TOUCHED | TRACE_ROW_KEPT) ||
        (!live.alloc_bytes && !live.alloc_calls))
        return;
    live.free_bytes = live.free_calls = live.temp_calls = 0;
    live.flags |= TRACE_ROW_EARLIER;
    /* The row itself has the stack's share of a peak if one is stored. Otherwise the share is the
     * present live bytes of both rows together. */
    live.peak_bytes = live.peak_calls = 0;
    trace_builder_row(g, &live);
}

static void settle(struct trace *t, const struct trace_counted *earlier)
{
    struct trace_builder g = trace_builder_begin(t);

    for (size_t i = 0; i < TRACE_PART_HEADER; i++)
        *header_counter(&t->header, i) -= earlier->header[i];
    for (uint32_t id = 0; id < earlier->nrows && id < t->priv->rows_read; id++)
        if (adds_up(t, &t->rows[id]) && !all_zero(earlier->rows[id], TRACE_PART_ROW))
            settle_row(t, &g, id, earlier->rows[id]);
    for (uint32_t id = 0; id < earlier->nthreads && id < t->thread_limit; id++) {
        struct trace_thread *th = &t->priv->threads[id];

        if (!th->tid)
            continue;
        th->events -= earlier->threads[id][0];
        th->cost_samples -= earlier->threads[id][1];
        th->cost_ns -= earlier->threads[id][2];
        th->skipped -= earlier->threads[id][3];
    }
}

int trace_part_settle(struct trace *t)
{
    struct trace_counted earlier = {.rows = NULL};
    struct trace_part_facts facts;
    int is = trace_part_of(t, &facts, &earlier);

    if (is == 1)
        settle(t, &earlier);
    trace_counted_release(&earlier);
    return is == 1 ? 0 : is;
}

/* ---- joining ---- */

static struct trace_recording recording_of(const struct trace *t)
{
    return (struct trace_recording){t->header.start_realtime_ns, t->header.start_monotonic_ns,
                                    t->header.pid};
}

int trace_parts_take(struct trace_parts *p, struct trace *t, bool *taken)
{
    struct trace_part_facts facts;
    int is = trace_part_of(t, &facts, NULL);

    *taken = is == 1;
    if (is == 1) {
        GROW(p->parts, p->n, p->room);
        p->parts[p->n++] = t;
    } else if (is == 0 && t->header.recorder == TRACE_RECORDER_MEM) {
        GROW(p->wholes, p->nwholes, p->wholes_room);
        p->wholes[p->nwholes++] = recording_of(t);
    }
    return is == 1 ? 0 : is;
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Order by recording; 0: equal. */
static int by_recording(const struct trace *a, const struct trace *b)
{
    int c = compare(a->header.start_realtime_ns, b->header.start_realtime_ns);

    if (!c)
        c = compare(a->header.start_monotonic_ns, b->header.start_monotonic_ns);
    return c ? c : compare(a->header.pid, b->header.pid);
}

static struct trace_part_facts facts_of(const struct trace *t)
{
    struct trace_part_facts facts = {.number = 0};

    trace_part_of(t, &facts, NULL);
    return facts;
}

static int by_seams(const void *a, const void *b)
{
    const struct trace *x = *(struct trace *const *)a, *y = *(struct trace *const *)b;
    struct trace_part_facts f, g;
    int c = by_recording(x, y);

    if (c)
        return c;
    f = facts_of(x);
    g = facts_of(y);
    c = compare(f.begin_ns, g.begin_ns);
    return c ? c : compare(f.end_ns, g.end_ns);
}

/* Adds the counts between the seams before and after a gap to the counts from before all parts. */
static void add_gap(struct trace_counted *earlier, const struct trace *before,
                    const struct trace_counted *after)
{
    struct trace_counted at_end = {.rows = NULL};

    trace_counted_take(&at_end, before);
    for (size_t i = 0; i < TRACE_PART_HEADER; i++)
        earlier->header[i] += after->header[i] - at_end.header[i];
    for (uint32_t id = 0; id < earlier->nrows && id < after->nrows; id++)
        for (size_t i = 0; i < TRACE_PART_ROW; i++)
            earlier->rows[id][i] +=
                after->rows[id][i] - (id < at_end.nrows ? at_end.rows[id][i] : 0);
    for (uint32_t id = 0; id < earlier->nthreads && id < after->nthreads; id++)
        for (size_t i = 0; i < TRACE_PART_THREAD; i++)
            earlier->threads[id][i] +=
                after->threads[id][i] - (id < at_end.nthreads ? at_end.threads[id][i] : 0);
    trace_counted_release(&at_end);
}

/* Enlarges the arrays to the rows and threads of `t`, the last part: the first part's record has no
 * more than its own. */
static void widen(struct trace_counted *c, const struct trace *t)
{
    struct trace_counted wide = {.rows = NULL};

    make_room(&wide, t);
    memcpy(wide.header, c->header, sizeof wide.header);
    for (uint32_t id = 0; id < c->nrows && id < wide.nrows; id++)
        memcpy(wide.rows[id], c->rows[id], sizeof wide.rows[id]);
    for (uint32_t id = 0; id < c->nthreads && id < wide.nthreads; id++)
        memcpy(wide.threads[id], c->threads[id], sizeof wide.threads[id]);
    trace_counted_release(c);
    *c = wide;
}

static void say_gap(const struct trace *t, const struct trace_part_facts *before,
                    const struct trace_part_facts *after)
{
    uint32_t from = before->number + 1, to = after->number - 1;

    if (from == to)
        flame_warn("%s: part %" PRIu32
                   " of the same recording is not given; its counts are missing",
                   t->path, from);
    else if (from < to)
        flame_warn("%s: parts %" PRIu32 " to %" PRIu32
                   " of the same recording are not given; their counts are missing",
                   t->path, from, to);
    else
        flame_warn("%s: between this part and the one before it some of the same recording are not "
                   "given; their counts are missing",
                   t->path);
}

/* Index of the part that was written last. */
static size_t last_of(struct trace *const *parts, size_t n)
{
    size_t last = 0;

    for (size_t i = 1; i < n; i++)
        if (facts_of(parts[i]).end_ns >= facts_of(parts[last]).end_ns)
            last = i;
    return last;
}

/* Joins the n parts of one recording, sorted by their seams; all but the one that is returned are
 * freed. */
static struct trace *join(struct trace **parts, size_t n)
{
    struct trace_counted earlier = {.rows = NULL}, next = {.rows = NULL};
    struct trace *last = parts[0];
    struct trace_part_facts facts, f;

    trace_part_of(last, &facts, &earlier);
    widen(&earlier, parts[last_of(parts, n)]);
    for (size_t i = 1; i < n; i++) {
        struct trace *shorter = parts[i];

        trace_part_of(parts[i], &f, &next);
        if (f.begin_ns == facts.begin_ns && f.end_ns == facts.end_ns)
            flame_warn("%s: part %" PRIu32 " is given twice, and counted once", parts[i]->path,
                       f.number);
        if (f.begin_ns > facts.end_ns) {
            say_gap(parts[i], &facts, &f);
            add_gap(&earlier, last, &next);
        }
        if (f.end_ns >= facts.end_ns) {
            shorter = last;
            last = parts[i];
            facts = f;
        }
        trace_counted_release(&next);
        trace_free(shorter);
    }
    settle(last, &earlier);
    trace_counted_release(&earlier);
    return last;
}

/* Whether the whole recording of that part is there, too: it includes all parts. */
static bool is_whole(const struct trace_parts *p, const struct trace *part)
{
    struct trace_recording r = recording_of(part);

    for (size_t i = 0; i < p->nwholes; i++)
        if (p->wholes[i].realtime_ns == r.realtime_ns &&
            p->wholes[i].monotonic_ns == r.monotonic_ns && p->wholes[i].pid == r.pid)
            return true;
    return false;
}

size_t trace_parts_join(struct trace_parts *p, struct trace ***out)
{
    size_t n = 0;

    if (p->n)
        qsort(p->parts, p->n, sizeof(struct trace *), by_seams);
    for (size_t i = 0, end; i < p->n; i = end) {
        end = i + 1;
        while (end < p->n && by_recording(p->parts[i], p->parts[end]) == 0)
            end++;
        if (is_whole(p, p->parts[i])) {
            flame_warn(
                "%s: is a part of a recording that is also given whole; such parts are not counted",
                p->parts[i]->path);
            while (i < end)
                trace_free(p->parts[i++]);
            continue;
        }
        p->parts[n++] = join(p->parts + i, end - i);
    }
    free(p->wholes);
    *out = p->parts;
    *p = (struct trace_parts){.parts = NULL};
    return n;
}

void trace_parts_release(struct trace_parts *p)
{
    for (size_t i = 0; i < p->n; i++)
        trace_free(p->parts[i]);
    free(p->parts);
    free(p->wholes);
    *p = (struct trace_parts){.parts = NULL};
}
