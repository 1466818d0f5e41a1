/*
 * The views of memory. Rows that a fork's child inherited stand for blocks that its parent
 * allocated: they count as live and in the peak, but not as allocated here. So do the rows of
 * blocks that were live when a part of a recording began.
 */
#include "common/trace/trace_parts.h"
#include "fold/analysis/age_limits.h"
#include "fold/viewtable.h"

static bool inherited(const struct trace_row *r)
{
    return (r->flags & (TRACE_ROW_INHERITED | TRACE_ROW_EARLIER)) != 0;
}

/* Whether a row holds no allocations of its own: results about blocks that other rows count, or
 * mappings. */
static bool is_other(const struct trace_row *r)
{
    return (r->flags & TRACE_ROW_NO_BLOCKS) != 0;
}

static int64_t alloc_value(const struct trace *t FLAME_UNUSED, const struct trace_row *r)
{
    return inherited(r) || is_other(r) ? 0 : (int64_t)r->alloc_bytes;
}

static int64_t count_value(const struct trace *t FLAME_UNUSED, const struct trace_row *r)
{
    return inherited(r) || is_other(r) ? 0 : (int64_t)r->alloc_calls;
}

static int64_t live_value(const struct trace *t FLAME_UNUSED, const struct trace_row *r)
{
    return is_other(r) ? 0 : (int64_t)(r->alloc_bytes - r->free_bytes);
}

static int64_t peak_value(const struct trace *t, const struct trace_row *r)
{
    int64_t bytes = 0, calls;

    if (!is_other(r))
        trace_row_peak(t, r, &bytes, &calls);
    return bytes;
}

static int64_t temp_value(const struct trace *t FLAME_UNUSED, const struct trace_row *r)
{
    return is_other(r) ? 0 : (int64_t)r->temp_calls;
}

/* ---- results about live blocks, from the end of the process ---- */

static int64_t found(const struct trace_row *r, uint16_t flags)
{
    return r->flags & flags ? (int64_t)r->alloc_bytes : 0;
}

static int64_t leak_value(const struct trace *t FLAME_UNUSED, const struct trace_row *r)
{
    return found(r, TRACE_ROW_LEAKED | TRACE_ROW_LEAKED_BY_LEAK);
}

static int64_t definite_value(const struct trace *t FLAME_UNUSED, const struct trace_row *r)
{
    return found(r, TRACE_ROW_LEAKED);
}

static int64_t indirect_value(const struct trace *t FLAME_UNUSED, const struct trace_row *r)
{
    return found(r, TRACE_ROW_LEAKED_BY_LEAK);
}

static int64_t inner_value(const struct trace *t FLAME_UNUSED, const struct trace_row *r)
{
    return found(r, TRACE_ROW_INNER);
}

static int64_t reachable_value(const struct trace *t FLAME_UNUSED, const struct trace_row *r)
{
    return found(r, TRACE_ROW_REACHED);
}

/* Bytes at the ends of the regions that the program marked. */
static int64_t region_value(const struct trace *t FLAME_UNUSED, const struct trace_row *r)
{
    return found(r, TRACE_ROW_REGION);
}

/* Growth with each pass, between marks that the program or a timer has set. */
static int64_t growth_value(const struct trace *t FLAME_UNUSED, const struct trace_row *r)
{
    return found(r, TRACE_ROW_GROWTH);
}

/* ---- the process's mappings ---- */

static int64_t mapped_value(const struct trace *t FLAME_UNUSED, const struct trace_row *r)
{
    return r->flags & TRACE_ROW_MAPPED ? (int64_t)(r->alloc_bytes - r->free_bytes) : 0;
}

/* Growth of the heap by sbrk and brk. */
static int64_t break_value(const struct trace *t, const struct trace_row *r)
{
    const struct trace_node *n = r->flags & TRACE_ROW_MAPPED ? &t->nodes[r->node] : NULL;

    return n && n->kind == TRACE_NODE_MAPPING && n->addr == TRACE_MAPPING_BREAK ? mapped_value(t, r)
                                                                                : 0;
}

static int64_t unmapped_value(const struct trace *t FLAME_UNUSED, const struct trace_row *r)
{
    return r->flags & TRACE_ROW_MAPPED ? (int64_t)r->free_bytes : 0;
}

/* ---- resident memory at the process's last scan ---- */

static int64_t resident_value(const struct trace *t FLAME_UNUSED, const struct trace_row *r)
{
    return found(r, TRACE_ROW_RESIDENT);
}

static int64_t swapped_value(const struct trace *t FLAME_UNUSED, const struct trace_row *r)
{
    return found(r, TRACE_ROW_SWAPPED);
}

static int64_t slack_value(const struct trace *t FLAME_UNUSED, const struct trace_row *r)
{
    return found(r, TRACE_ROW_SLACK);
}

/* ---- page faults ---- */

static int64_t fault_value(const struct trace *t FLAME_UNUSED, const struct trace_row *r)
{
    return r->flags & TRACE_ROW_FAULT ? (int64_t)r->alloc_calls : 0;
}

/* Faults by the memory in which they were, under the stack that owns it. */
static int64_t touched_value(const struct trace *t FLAME_UNUSED, const struct trace_row *r)
{
    return r->flags & TRACE_ROW_TOUCHED ? (int64_t)r->alloc_calls : 0;
}

#define MEM TRACE_RECORDER_MEM

#define LEAKS TRACE_FEATURE_LEAKS

const struct view mem_views[] = {
    {"alloc", "bytes asked for", "bytes", MEM, 1, VIEW_STACK, alloc_value, NULL, 0, false},
    {"count", "calls that asked for them", "calls", MEM, 1, VIEW_STACK, count_value, NULL, 0,
     false},
    {"live", "bytes not freed at the end", "bytes", MEM, 1, VIEW_STACK, live_value, NULL, 0, false},
    {"peak", "bytes live when most were", "bytes", MEM, 1, VIEW_STACK, peak_value, NULL,
     TRACE_FEATURE_PEAK, false},
    {"temp", "calls freed before their thread's next call", "calls", MEM, 1, VIEW_STACK, temp_value,
     NULL, 0, false},
    {"leak", "bytes that nothing leads to at the end", "bytes", MEM, 1, VIEW_STACK, leak_value,
     NULL, LEAKS, false},
    {"definite", "of these, what nothing leads to", "bytes", MEM, 1, VIEW_STACK, definite_value,
     NULL, LEAKS, false},
    {"indirect", "of these, what only leaked blocks lead to", "bytes", MEM, 1, VIEW_STACK,
     indirect_value, NULL, LEAKS, false},
    {"inner", "bytes that only pointers into them lead to", "bytes", MEM, 1, VIEW_STACK,
     inner_value, NULL, LEAKS, false},
    {"reachable", "bytes that pointers to their start lead to", "bytes", MEM, 1, VIEW_STACK,
     reachable_value, NULL, LEAKS, false},
    {"region", "bytes that marked regions left behind", "bytes", MEM, 1, VIEW_STACK, region_value,
     NULL, TRACE_FEATURE_REGIONS, false},
    {"growth", "bytes more with each marked pass", "bytes", MEM, 1, VIEW_STACK, growth_value, NULL,
     TRACE_FEATURE_GROWTH, false},
    {"mmap", "bytes mapped at the end", "bytes", MEM, 1, VIEW_STACK, mapped_value, NULL,
     TRACE_FEATURE_MAPPINGS, false},
    {"brk", "of these, what the program break was moved by", "bytes", MEM, 1, VIEW_STACK,
     break_value, NULL, TRACE_FEATURE_MAPPINGS, false},
    {"unmapped", "bytes mapped and unmapped again", "bytes", MEM, 1, VIEW_STACK, unmapped_value,
     NULL, TRACE_FEATURE_MAPPINGS, false},
    {"rss", "bytes resident at the end", "bytes", MEM, 1, VIEW_STACK, resident_value, NULL,
     TRACE_FEATURE_RESIDENT, false},
    {"swap", "bytes swapped out at the end", "bytes", MEM, 1, VIEW_STACK, swapped_value, NULL,
     TRACE_FEATURE_RESIDENT, false},
    {"slack", "bytes resident and in no block", "bytes", MEM, 1, VIEW_STACK, slack_value, NULL,
     TRACE_FEATURE_RESIDENT, false},
    {"fault", "page faults: memory touched first", "faults", MEM, 1, VIEW_STACK, fault_value, NULL,
     TRACE_FEATURE_FAULTS, false},
    {"touched", "page faults, by whose memory was touched", "faults", MEM, 1, VIEW_STACK,
     touched_value, NULL, TRACE_FEATURE_TOUCHED, false},
    {"sizes", "bytes asked for, by the size of blocks", "bytes", MEM, 1, VIEW_CLASS,
     age_limits_sizes, NULL, TRACE_FEATURE_LIFETIMES, false},
    {"lifetimes", "bytes by how long their blocks lived", "bytes", MEM, 1, VIEW_CLASS,
     age_limits_lifetimes, NULL, TRACE_FEATURE_LIFETIMES, false},
    {"short", "bytes of blocks that died young", "bytes", MEM, 1, VIEW_STACK, age_limits_short,
     NULL, TRACE_FEATURE_LIFETIMES, false},
    {"old", "bytes of old blocks at the end", "bytes", MEM, 1, VIEW_STACK, age_limits_old, NULL,
     TRACE_FEATURE_AGES, false},
    {0},
};

_Static_assert(ARRAY_LEN(mem_views) <= VIEWS_MAX + 1, "viewtable.h");
