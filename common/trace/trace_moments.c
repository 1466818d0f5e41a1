/*
 * Sums up to a moment are computed by reading all moments before it, which is as much as the file
 * has: some MB. Rejected: whole states at intervals in the file, because they would be most of it.
 */
#include "common/trace/trace_moments.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/trace/trace_reader.h"
#include "common/trace/trace_reader_impl.h"

/* ---- entries ---- */

void trace_changes_begin(struct trace_changes *c, const struct trace_moment_view *m)
{
    *c =
        (struct trace_changes){.at = m->changes, .end = m->changes + m->size, .left = m->m.entries};
}

bool trace_changes_next(struct trace_changes *c, struct trace_change *out)
{
    uint64_t step, blocks, bytes;

    if (!c->left || !trace_take_number(&c->at, c->end, &step) ||
        !trace_take_number(&c->at, c->end, &blocks) || !trace_take_number(&c->at, c->end, &bytes))
        return false;
    c->left--;
    c->row += (uint32_t)step;
    *out = (struct trace_change){c->row, trace_unfold_sign(bytes), trace_unfold_sign(blocks)};
    return true;
}

void trace_moment_encode(struct strbuf *out, struct trace_moment *m,
                         const struct trace_change *changes, size_t n)
{
    uint32_t row = 0;

    m->entries = (uint32_t)n;
    strbuf_add(out, m, sizeof *m);
    for (size_t i = 0; i < n; i++) {
        uint8_t entry[30], *at = entry;

        at = trace_put_number(at, changes[i].row - row);
        at = trace_put_number(at, trace_fold_sign(changes[i].blocks));
        at = trace_put_number(at, trace_fold_sign(changes[i].bytes));
        strbuf_add(out, entry, (size_t)(at - entry));
        row = changes[i].row;
    }
}

/* ---- the file beside the trace ---- */

int trace_moments_beside(struct trace *t)
{
    struct strbuf path = STRBUF_INIT;
    struct trace *beside = NULL;
    int status = 0;

    if (t->nmoments || t->priv->beside || t->header.recorder != TRACE_RECORDER_MEM)
        return 0;
    strbuf_addf(&path, "%s" TRACE_MOMENTS_ENDING, t->path);
    if (access(path.buf, F_OK) == 0)
        status = trace_load_plain(path.buf, &beside);
    strbuf_release(&path);
    if (!beside)
        return status;
    if (beside->header.pid != t->header.pid ||
        beside->header.start_monotonic_ns != t->header.start_monotonic_ns ||
        beside->header.start_realtime_ns != t->header.start_realtime_ns) {
        trace_free(beside);
        return 0;
    }
    t->priv->beside = beside;
    t->moments = beside->moments;
    t->nmoments = beside->nmoments;
    t->moment_room = beside->moment_room;
    t->time_zero_ns = beside->time_zero_ns;
    beside->moments = NULL;
    beside->nmoments = beside->moment_room = 0;
    return 0;
}

/* ---- at a time ---- */

uint64_t trace_moment_shown(const struct trace *t, uint64_t monotonic_ns)
{
    uint64_t ns = monotonic_ns > t->time_zero_ns ? monotonic_ns - t->time_zero_ns : 0;

    return ns / 1000 * 1000 + (ns % 1000 ? 1000 : 0);
}

const struct trace_moment_view *trace_moment_at(const struct trace *t, uint64_t monotonic_ns)
{
    size_t lo = 0, hi = t->nmoments;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (t->moments[mid].m.monotonic_ns <= monotonic_ns)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo ? &t->moments[lo - 1] : NULL;
}

/* Compares in microseconds, as times are shown. */
bool trace_is_there(const struct trace *t, uint64_t monotonic_ns)
{
    const struct trace_moment_view *last = t->nmoments ? &t->moments[t->nmoments - 1] : NULL;

    return monotonic_ns >= t->header.start_monotonic_ns &&
           !(last && last->m.flags & TRACE_MOMENT_LAST && monotonic_ns > last->m.monotonic_ns &&
             monotonic_ns - last->m.monotonic_ns > 999);
}

static void add_moment(const struct trace *t, const struct trace_moment_view *m,
                       struct trace_amount *of_row)
{
    struct trace_changes c;
    struct trace_change one;

    trace_changes_begin(&c, m);
    while (trace_changes_next(&c, &one))
        if (one.row < t->row_limit) {
            of_row[one.row].bytes += one.bytes;
            of_row[one.row].blocks += one.blocks;
        }
}

void trace_moments_live(const struct trace *t, uint64_t monotonic_ns, struct trace_amount *of_row)
{
    const struct trace_moment_view *last = trace_moment_at(t, monotonic_ns);

    memset(of_row, 0, t->row_limit * sizeof *of_row);
    if (!trace_is_there(t, monotonic_ns))
        return;
    for (const struct trace_moment_view *m = t->moments; last && m <= last; m++)
        add_moment(t, m, of_row);
    for (uint32_t id = t->priv->rows_read; id < t->row_limit; id++)
        if (t->rows[id].flags & TRACE_ROW_INHERITED)
            of_row[id] = (struct trace_amount){t->rows[id].alloc_bytes, t->rows[id].alloc_calls};
}

/* ---- thinning ---- */

size_t trace_moments_thin(const uint64_t *times, bool *keep, size_t n, uint64_t now,
                          uint64_t per_age)
{
    uint64_t next = now; /* the next younger moment that is kept */
    size_t kept = 0;

    for (size_t i = n; i-- > 0;) {
        uint64_t apart = (now > times[i] ? now - times[i] : 0) / per_age;

        keep[i] = i == 0 || i + 1 == n || next - times[i] >= apart ||
                  next - times[i - 1] >
                      2 * apart; /* without this one the distance to the next would be too large */
        if (!keep[i])
            continue;
        kept++;
        next = times[i];
    }
    return kept;
}
