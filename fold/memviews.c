/*
 * The views of memory. Rows that a fork's child inherited stand for blocks that its parent
 * allocated: they count as live and in the peak, but not as allocated here.
 */
#include "fold/viewtable.h"

static bool inherited(const struct trace_row *r)
{
    return (r->flags & TRACE_ROW_INHERITED) != 0;
}

static int64_t alloc_value(const struct trace *t, const struct trace_row *r)
{
    (void)t;
    return inherited(r) ? 0 : (int64_t)r->alloc_bytes;
}

static int64_t count_value(const struct trace *t, const struct trace_row *r)
{
    (void)t;
    return inherited(r) ? 0 : (int64_t)r->alloc_calls;
}

static int64_t live_value(const struct trace *t, const struct trace_row *r)
{
    (void)t;
    return (int64_t)(r->alloc_bytes - r->free_bytes);
}

static int64_t peak_value(const struct trace *t, const struct trace_row *r)
{
    int64_t bytes, calls;

    trace_row_peak(t, r, &bytes, &calls);
    return bytes;
}

static int64_t temp_value(const struct trace *t, const struct trace_row *r)
{
    (void)t;
    return (int64_t)r->temp_calls;
}

#define MEM TRACE_RECORDER_MEM

const struct view mem_views[] = {
    {"alloc", "bytes", MEM, 1, VIEW_OWN, alloc_value, NULL},
    {"count", "calls", MEM, 1, VIEW_OWN, count_value, NULL},
    {"live", "bytes", MEM, 1, VIEW_OWN, live_value, NULL},
    {"peak", "bytes", MEM, 1, VIEW_OWN, peak_value, NULL},
    {"temp", "calls", MEM, 1, VIEW_OWN, temp_value, NULL},
    {NULL, NULL, 0, 0, VIEW_OWN, NULL, NULL},
};

_Static_assert(ARRAY_LEN(mem_views) <= VIEWS_MAX + 1, "viewtable.h");
