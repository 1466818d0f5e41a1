#include "fold/analysis/latency.h"

#include "common/alloc.h"
#include "common/trace/sleepclass.h"

uint32_t *latency_longest(const struct trace *t)
{
    const struct trace_off_row *rows = trace_off_rows(t);
    uint32_t *longest = xcalloc((size_t)t->node_limit + 1, sizeof *longest);

    for (uint32_t id = 1; id < t->row_limit; id++) {
        const struct trace_off_row *o = &rows[id];
        const struct trace_node *n = &t->nodes[o->node];
        uint32_t *at = &longest[n->parent];

        if (!trace_row_used(&t->rows[id]) || o->kind != TRACE_OFF_CLASS ||
            n->addr == sleepclass_number(SLEEPCLASS_UNKNOWN) || !o->sleeps)
            continue;
        if (!*at || o->max_ns > rows[*at].max_ns)
            *at = id;
    }
    return longest;
}
