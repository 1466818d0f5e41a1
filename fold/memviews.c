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

/* ---- who keeps blocks ---- */

static int64_t kept_value(const struct trace *t FLAME_UNUSED, const struct trace_row *r)
{
    return found(r, TRACE_ROW_KEPT);
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

static const struct view_need need_peak = {
    .feature = TRACE_FEATURE_PEAK,
    .lack = "the peak, which older recordings of flame mem -p lack",
};
static const struct view_need need_leaks = {
    .feature = TRACE_FEATURE_LEAKS,
    .asks = VIEW_ASKS_SCAN | VIEW_ASKS_EVERY_BLOCK,
    .of_some = true,
    .lack = "a look for leaks, which flame leak has a process take",
};
static const struct view_need need_regions = {
    .feature = TRACE_FEATURE_REGIONS,
    .asks = VIEW_ASKS_SCAN | VIEW_ASKS_EVERY_BLOCK,
    .of_some = true,
    .lack = "a region that left anything behind",
};
static const struct view_need need_growth = {
    .feature = TRACE_FEATURE_GROWTH,
    .of_some = true,
    .lack = "10 marks of passes (flamemem_mark)",
};
static const struct view_need need_mappings = {
    .feature = TRACE_FEATURE_MAPPINGS,
    .of_some = true,
    .may_be_empty = true,
    .lack = "mappings, which flame mem records of commands, and not of a process with -p",
};
static const struct view_need need_resident = {
    .feature = TRACE_FEATURE_RESIDENT,
    .asks = VIEW_ASKS_RESIDENT | VIEW_ASKS_EVERY_BLOCK,
    .of_some = true,
    .lack = "a look at what is resident, which flame mem --rss has a process take that ends by "
            "itself",
};
static const struct view_need need_kept = {
    .feature = TRACE_FEATURE_KEPT,
    .asks = VIEW_ASKS_KEEPERS | VIEW_ASKS_EVERY_BLOCK,
    .of_some = true,
    .lack = "a search for who keeps blocks, which flame mem --kept has a process make that ends by "
            "itself",
};
static const struct view_need need_faults = {
    .feature = TRACE_FEATURE_FAULTS,
    .asks = VIEW_ASKS_FAULTS,
    .of_some = true,
    .lack = "page faults, which flame mem --view fault records",
};
static const struct view_need need_touched = {
    .feature = TRACE_FEATURE_TOUCHED,
    .asks = VIEW_ASKS_TOUCHED | VIEW_ASKS_EVERY_BLOCK,
    .of_some = true,
    .lack = "whose memory page faults were in, which flame mem --view touched records",
};
static const struct view_need need_lifetimes = {
    .feature = TRACE_FEATURE_LIFETIMES,
    .asks = VIEW_ASKS_LIFETIMES,
    .of_some = true,
    .lack = "lifetimes, which flame mem --lifetimes time records",
};
static const struct view_need need_ages = {
    .feature = TRACE_FEATURE_AGES,
    .asks = VIEW_ASKS_LIFETIMES,
    .of_some = true,
    .lack = "a look at how old blocks are, which flame mem --lifetimes time has a process take "
            "that ends by itself",
};

#define MEMORY_IN(what) .unit = (what), .recorder = TRACE_RECORDER_MEM, .scale = 1, .palette = "mem"
#define MEMORY MEMORY_IN("bytes")

static const struct view grown_live[] = {
    {.name = "grown",
     .what = "bytes live more than before",
     .label = "What has grown",
     MEMORY,
     .value = live_value,
     .title = "Memory grown",
     .moment_title = "Memory grown"},
    {0},
};

static const struct view grown_mapped[] = {
    {.name = "mapgrown",
     .what = "bytes mapped more than before",
     .label = "Mappings that grew",
     MEMORY,
     .value = mapped_value,
     .need = &need_mappings,
     .title = "Mapped memory grown",
     .moment_title = "Mapped memory grown"},
    {0},
};

const struct view mem_views[] = {
    {.name = "alloc",
     .what = "bytes asked for",
     .label = "What was allocated",
     MEMORY,
     .value = alloc_value,
     .title = "Memory allocated"},
    {.name = "count",
     .what = "calls that asked for them",
     .label = "How many allocations",
     MEMORY_IN("calls"),
     .value = count_value,
     .title = "Allocation calls"},
    {.name = "live",
     .what = "bytes not freed at the end",
     .label = "What was not freed",
     MEMORY,
     .value = live_value,
     .grown = grown_live,
     .title = "Memory live at the end",
     .moment_title = "Memory live",
     .level = true},
    {.name = "peak",
     .what = "bytes live when most were",
     .label = "Held at the peak",
     MEMORY,
     .value = peak_value,
     .need = &need_peak,
     .title = "Memory at the peak",
     .level = true},
    {.name = "temp",
     .what = "calls freed before their thread's next call",
     .label = "Freed right away",
     MEMORY_IN("calls"),
     .value = temp_value,
     .title = "Temporary allocations"},
    {.name = "leak",
     .what = "bytes that nothing leads to at the end",
     .label = "What leaked",
     MEMORY,
     .value = leak_value,
     .need = &need_leaks,
     .title = "Memory leaked",
     .level = true},
    {.name = "definite",
     .what = "of these, what nothing leads to",
     .label = "Leaked directly",
     MEMORY,
     .value = definite_value,
     .need = &need_leaks,
     .title = "Memory nothing leads to",
     .level = true},
    {.name = "indirect",
     .what = "of these, what only leaked blocks lead to",
     .label = "Leaked through others",
     MEMORY,
     .value = indirect_value,
     .need = &need_leaks,
     .title = "Memory only leaks lead to",
     .level = true},
    {.name = "inner",
     .what = "bytes that only pointers into them lead to",
     .label = "Pointed to inside only",
     MEMORY,
     .value = inner_value,
     .need = &need_leaks,
     .title = "Memory reached by its inside only",
     .level = true},
    {.name = "reachable",
     .what = "bytes that pointers to their start lead to",
     .label = "Still reachable",
     MEMORY,
     .value = reachable_value,
     .need = &need_leaks,
     .title = "Memory reachable at the end",
     .level = true},
    {.name = "region",
     .what = "bytes that marked regions left behind",
     .label = "Left by regions",
     MEMORY,
     .value = region_value,
     .need = &need_regions,
     .title = "Memory left behind by regions"},
    {.name = "growth",
     .what = "bytes more with each marked pass",
     .label = "Grows with each pass",
     MEMORY,
     .value = growth_value,
     .need = &need_growth,
     .title = "Memory growth by pass"},
    {.name = "mmap",
     .what = "bytes mapped at the end",
     .label = "What is mapped",
     MEMORY,
     .value = mapped_value,
     .need = &need_mappings,
     .grown = grown_mapped,
     .title = "Memory mapped at the end",
     .moment_title = "Memory mapped"},
    {.name = "brk",
     .what = "of these, what the program break was moved by",
     .label = "Mapped by brk",
     MEMORY,
     .value = break_value,
     .need = &need_mappings,
     .title = "Program break at the end"},
    {.name = "unmapped",
     .what = "bytes mapped and unmapped again",
     .label = "Mapped and unmapped",
     MEMORY,
     .value = unmapped_value,
     .need = &need_mappings,
     .title = "Memory mapped and unmapped"},
    {.name = "rss",
     .what = "bytes resident at the end",
     .label = "Resident in RAM",
     MEMORY,
     .value = resident_value,
     .need = &need_resident,
     .title = "Memory resident at the end"},
    {.name = "swap",
     .what = "bytes swapped out at the end",
     .label = "Swapped out",
     MEMORY,
     .value = swapped_value,
     .need = &need_resident,
     .title = "Memory swapped out at the end"},
    {.name = "slack",
     .what = "bytes resident and in no block",
     .label = "Resident, in no block",
     MEMORY,
     .value = slack_value,
     .need = &need_resident,
     .title = "Memory resident in no block"},
    {.name = "kept",
     .what = "live bytes by who keeps them",
     .label = "Who keeps it",
     MEMORY,
     .value = kept_value,
     .need = &need_kept,
     .title = "Memory by who keeps it"},
    {.name = "fault",
     .what = "page faults: memory touched first",
     .label = "Page faults",
     MEMORY_IN("faults"),
     .value = fault_value,
     .need = &need_faults,
     .title = "Page faults: memory touched first"},
    {.name = "touched",
     .what = "page faults, by whose memory was touched",
     .label = "Page faults by owner",
     MEMORY_IN("faults"),
     .value = touched_value,
     .need = &need_touched,
     .title = "Page faults, by whose memory was touched"},
    {.name = "sizes",
     .what = "bytes asked for, by the size of blocks",
     .label = "Sizes of blocks",
     MEMORY,
     .shape = VIEW_CLASS,
     .value = age_limits_sizes,
     .need = &need_lifetimes,
     .beside = true,
     .title = "Memory allocated by size"},
    {.name = "lifetimes",
     .what = "bytes by how long their blocks lived",
     .label = "How long blocks lived",
     MEMORY,
     .shape = VIEW_CLASS,
     .value = age_limits_lifetimes,
     .need = &need_lifetimes,
     .beside = true,
     .title = "Memory by how long it lived"},
    {.name = "short",
     .what = "bytes of blocks that died young",
     .label = "Died young",
     MEMORY,
     .value = age_limits_short,
     .need = &need_lifetimes,
     .beside = true,
     .title = "Memory that died young"},
    {.name = "old",
     .what = "bytes of old blocks at the end",
     .label = "Old and not freed",
     MEMORY,
     .value = age_limits_old,
     .need = &need_ages,
     .title = "Old memory at the end",
     .level = true},
    {0},
};

_Static_assert(ARRAY_LEN(mem_views) <= VIEWS_MAX + 1, "viewtable.h");
