#include "driver/leak/regionreport.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "driver/leak/leaklines.h"
#include "render/value.h"

#define LINES_SHOWN 20

struct left {
    const char *name; /* the trace's */
    uint64_t bytes, blocks;
};

struct all_left {
    struct left *list;
    size_t n, room;
    struct left sum;
};

/* Traces of several programs may have regions of one name; those of one trace differ. */
static void add_region(struct all_left *all, const char *name, uint64_t bytes, uint64_t blocks)
{
    size_t i = 0;

    while (i < all->n && strcmp(all->list[i].name, name) != 0)
        i++;
    if (i == all->n) {
        GROW(all->list, all->n, all->room);
        all->list[all->n++] = (struct left){.name = name};
    }
    all->list[i].bytes += bytes;
    all->list[i].blocks += blocks;
}

static void add_trace(struct all_left *all, const struct trace *t)
{
    struct left *sums = xcalloc(t->nregions, sizeof *sums);

    for (uint32_t id = 0; id < t->row_limit; id++) {
        const struct trace_row *row = &t->rows[id];
        const struct trace_node *n = &t->nodes[row->node];

        if (!trace_row_used(row) || !(row->flags & TRACE_ROW_REGION) ||
            n->kind != TRACE_NODE_REGION)
            continue;
        sums[n->addr].bytes += row->alloc_bytes;
        sums[n->addr].blocks += row->alloc_calls;
        all->sum.bytes += row->alloc_bytes;
        all->sum.blocks += row->alloc_calls;
    }
    for (size_t i = 0; i < t->nregions; i++)
        if (sums[i].blocks)
            add_region(all, t->regions[i], sums[i].bytes, sums[i].blocks);
    free(sums);
}

static struct all_left collect(struct trace *const *traces, size_t n)
{
    struct all_left all = {.n = 0};

    for (size_t i = 0; i < n; i++)
        if (traces[i]->header.features & TRACE_FEATURE_REGIONS)
            add_trace(&all, traces[i]);
    return all;
}

bool regions_over(struct trace *const *traces, size_t n, uint64_t max_bytes, uint64_t max_blocks)
{
    struct all_left all = collect(traces, n);

    free(all.list);
    return all.sum.bytes > max_bytes || all.sum.blocks > max_blocks;
}

static void add_count(struct strbuf *sb, uint64_t n, const char *what)
{
    value_add_number(sb, (struct folded_count){.whole = n}, true);
    strbuf_addf(sb, " %s%s", what, n == 1 ? "" : "s");
}

static void tell(const struct all_left *all)
{
    struct strbuf sb = STRBUF_INIT;

    value_add_both(&sb, (struct folded_count){.whole = all->sum.bytes}, "bytes");
    strbuf_addstr(&sb, " in ");
    add_count(&sb, all->sum.blocks, "block");
    strbuf_addstr(&sb, " left behind by ");
    add_count(&sb, all->n, "region");
    flame_warn("leak: %s:", sb.buf);
    strbuf_release(&sb);
}

int regions_print(struct trace *const *traces, size_t n)
{
    struct all_left all = collect(traces, n);
    struct leak_list list = {.n = 0};
    struct leak_groups groups;
    int status = 0;

    if (all.n) {
        tell(&all);
        status = leak_list_make_regions(&list, traces, n);
        if (!status) {
            leak_groups_make(&groups, &list);
            leak_lines_print(&groups, LINES_SHOWN);
            leak_groups_release(&groups);
        }
        leak_list_release(&list);
    }
    free(all.list);
    return status;
}
