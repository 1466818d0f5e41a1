/*
 * The views. Rows that a fork's child inherited stand for blocks that its parent
 * allocated: they count as live and in the peak, but not as allocated here.
 */
#include "fold/memviews.h"

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

const struct view views[VIEWS_MAX + 1] = {
    {"alloc", "bytes", alloc_value}, {"count", "calls", count_value}, {"live", "bytes", live_value},
    {"peak", "bytes", peak_value},   {"temp", "calls", temp_value},   {NULL, NULL, NULL},
};

const struct view *view_find(const char *name)
{
    for (const struct view *v = views; v->name; v++)
        if (strcmp(v->name, name) == 0)
            return v;
    return NULL;
}

void view_list(struct strbuf *sb)
{
    for (const struct view *v = views; v->name; v++)
        strbuf_addf(sb, "%s%s", v == views ? "" : ", ", v->name);
}
