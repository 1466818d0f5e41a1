/* A trace in a few numbers; see fold_summary in fold.h. */
#include <stdlib.h>

#include "common/alloc.h"
#include "common/trace/trace_parts.h"
#include "fold/fold.h"

void fold_summary(const struct trace *t, struct fold_summary *s)
{
    uint8_t *seen = xcalloc((size_t)t->node_limit / 8 + 1, 1);
    double cost = (double)t->header.startup_ns;

    *s = (struct fold_summary){.lost_calls = t->header.lost_calls,
                               .lost_bytes = t->header.lost_bytes,
                               .lost_frees = t->header.lost_frees,
                               .lost_mappings = t->header.lost_mappings,
                               .paused_calls = t->header.paused_calls,
                               .paused_bytes = t->header.paused_bytes,
                               .kept_snapshots = t->header.kept_snapshots,
                               .unkept_snapshots = t->header.unkept_snapshots,
                               .sandbox_calls = t->header.sandbox_calls,
                               .sandbox_bytes = t->header.sandbox_bytes,
                               .fallback_stacks = t->header.fallback_stacks};
    for (uint32_t id = 0; id < t->row_limit; id++) {
        const struct trace_row *r = &t->rows[id];
        int64_t bytes, calls;

        if (!trace_row_counts(r))
            continue;
        if (!(r->flags & (TRACE_ROW_INHERITED | TRACE_ROW_EARLIER))) {
            s->alloc_bytes += r->alloc_bytes;
            s->alloc_calls += r->alloc_calls;
        }
        s->free_bytes += r->free_bytes;
        s->free_calls += r->free_calls;
        s->live_bytes = (int64_t)((uint64_t)s->live_bytes + r->alloc_bytes - r->free_bytes);
        s->live_calls = (int64_t)((uint64_t)s->live_calls + r->alloc_calls - r->free_calls);
        trace_row_peak(t, r, &bytes, &calls);
        s->peak_bytes = (int64_t)((uint64_t)s->peak_bytes + (uint64_t)bytes);
        s->peak_calls = (int64_t)((uint64_t)s->peak_calls + (uint64_t)calls);
        s->temp_calls += r->temp_calls;
        if (!(seen[r->node / 8] & 1u << r->node % 8)) {
            seen[r->node / 8] |= (uint8_t)(1u << r->node % 8);
            s->stacks++;
        }
    }
    for (uint32_t id = 0; id < t->thread_limit; id++) {
        const struct trace_thread *th = trace_thread_at(t, id);

        if (!th)
            continue;
        s->threads += th->uses ? th->uses : 1;
        s->skipped += th->skipped;
        if (th->cost_samples)
            cost += (double)th->cost_ns / (double)th->cost_samples * (double)th->events;
    }
    /* A hostile trace may hold any number; a double below 2^63 certainly fits. */
    s->cost_ns = cost < 0x1p63 ? (uint64_t)cost : (uint64_t)1 << 63;
    free(seen);
}
