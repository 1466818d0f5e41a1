/*
 * Rows to items. Where a view does not separate threads, the rows of a node are added up first:
 * in a memory trace most sums are 0, so far fewer items are left.
 */
#include "fold/row_values.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "fold/analysis/latency.h"
#include "fold/analysis/offrow.h"

static int by_thread(const void *pa, const void *pb)
{
    const struct row_value *a = pa, *b = pb;

    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->part != b->part)
        return a->part < b->part ? -1 : 1;
    if (a->region != b->region)
        return a->region < b->region ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

static void add(struct row_values *items, size_t *alloc, struct row_value item)
{
    GROW(items->item, items->n, *alloc);
    items->item[items->n++] = item;
}

/* The node of the row's stack, with its class where the view shows classes. */
static uint32_t stack_of(const struct trace *t, const struct trace_row *row,
                         const struct view *view)
{
    const struct trace_node *n = &t->nodes[row->node];

    return n->kind == TRACE_NODE_CLASS && view->shape != VIEW_CLASS ? n->parent : row->node;
}

/* Replaces a region's node, which lies on top of the stack, by the number of the region. */
static struct row_value on_region(const struct trace *t, struct row_value item)
{
    const struct trace_node *n = &t->nodes[item.node];

    if (n->kind == TRACE_NODE_REGION) {
        item.region = (uint32_t)n->addr + 1;
        item.node = n->parent;
    }
    return item;
}

void row_values_sort(struct row_values *items)
{
    if (items->n)
        qsort(items->item, items->n, sizeof *items->item, by_thread);
}

/* The thread for which a row counts: the one whose stack it is, if that is known. */
static uint32_t thread_of(const struct trace *t, uint32_t node, uint32_t otherwise)
{
    uint32_t thread = (uint32_t)trace_node_root(t, node)->addr;

    return trace_thread_at(t, thread) ? thread : otherwise;
}

static bool is_named(const struct trace *t, uint32_t thread, const struct row_value_options *o)
{
    const struct trace_thread *th = trace_thread_at(t, thread);

    for (size_t i = 0; i < o->ncomms; i++)
        if (th && strncmp(th->comm, o->comms[i], sizeof th->comm - 1) == 0)
            return true;
    return o->ncomms == 0;
}

/* A row's value. 0 if it is left out, which is added to the sum of its filter. */
static int64_t value_of(const struct trace *t, const struct trace_row *row,
                        const struct row_value_options *o)
{
    int64_t value;

    if (!trace_row_used(row) || (o->own && (row->flags & TRACE_ROW_INHERITED)))
        return 0;
    value = o->view->value(t, row);
    if (value == 0)
        return 0;
    o->left_out->total += (uint64_t)value;
    if (!is_named(t, thread_of(t, row->node, row->thread), o)) {
        o->left_out->comm += (uint64_t)value;
        return 0;
    }
    if (o->idle && idle_row(o->idle, row)) {
        o->left_out->idle += (uint64_t)value;
        return 0;
    }
    return value;
}

static struct row_values sum_nodes(const struct trace *t, const struct row_value_options *o)
{
    uint64_t *sums = xcalloc(t->node_limit, sizeof *sums);
    struct row_values items = {NULL, 0};
    size_t alloc = 0;

    for (uint32_t id = 0; id < t->row_limit; id++) {
        int64_t value = value_of(t, &t->rows[id], o);

        if (value)
            sums[stack_of(t, &t->rows[id], o->view)] += (uint64_t)value;
    }
    for (uint32_t id = 0; id < t->node_limit; id++)
        if (sums[id])
            add(&items, &alloc,
                on_region(t, (struct row_value){.node = id, .value = (int64_t)sums[id]}));
    free(sums);
    if (t->nregions)
        row_values_sort(&items);
    return items;
}

static struct row_value item_of(const struct trace *t, const struct trace_row *row, int64_t value,
                                const struct row_value_options *o)
{
    struct row_value item = {.node = stack_of(t, row, o->view), .value = value};
    uint32_t waker;

    item.thread = thread_of(t, row->node, row->thread);
    if (o->view->part)
        item.part = o->view->part(row);
    if (o->view->shape == VIEW_WAKER) {
        off_sleeper(t, row->node, &waker);
        item.top = item.thread;
        item.node = waker;
        item.thread = waker ? thread_of(t, waker, 0) : 0;
    }
    return item;
}

/* Makes the longest sleep of a stack an item of its own, and takes it out of its class's item. */
static struct row_value longest_of(const struct trace *t, struct row_value *of_class, uint32_t row)
{
    struct row_value item = *of_class;

    item.node = t->nodes[item.node].parent;
    item.longest = off_row(&t->rows[row])->max_ns;
    item.value = 1;
    of_class->value--;
    return item;
}

/* Where the parts of a split item go. */
struct split_item {
    struct row_values *items;
    size_t *alloc;
    struct row_value item;
};

static void add_link(void *arg, uint32_t link, int64_t ns)
{
    struct split_item *s = arg;
    struct row_value item = s->item;

    item.link = link;
    item.value = ns;
    add(s->items, s->alloc, item);
}

/* One item for each link of a chain. What no link has keeps the wakers that the recorder noted. */
static struct row_values collect_links(const struct trace *t, const struct row_value_options *o)
{
    int64_t *known = xcalloc((size_t)t->row_limit + 1, sizeof *known);
    struct row_values items = {NULL, 0};
    size_t alloc = 0;
    uint32_t waker;

    for (uint32_t id = 0; id < t->row_limit; id++) {
        int64_t value = value_of(t, &t->rows[id], o), rest;

        if (!value)
            continue;
        rest = chainsplit_rest(o->split, id, value);
        known[chainsplit_first(o->split, id)] += value - rest;
        if (rest)
            add(&items, &alloc, item_of(t, &t->rows[id], rest, o));
    }
    for (uint32_t id = 0; id < t->row_limit; id++) {
        struct split_item split = {.items = &items, .alloc = &alloc};

        if (!known[id])
            continue;
        split.item = item_of(t, &t->rows[id], known[id], o);
        split.item.node = off_sleeper(t, split.item.node, &waker);
        chainsplit_links(o->split, id, known[id], add_link, &split);
    }
    free(known);
    row_values_sort(&items);
    return items;
}

struct row_values row_values_collect(const struct trace *t, const struct row_value_options *o)
{
    uint32_t *longest = NULL;
    struct row_values items = {NULL, 0};
    size_t alloc = 0;

    if (o->view->recorder == TRACE_RECORDER_MEM && !o->tid)
        return sum_nodes(t, o);
    if (o->split)
        return collect_links(t, o);
    if (o->view->shape == VIEW_CLASS && o->view->recorder == TRACE_RECORDER_OFF)
        longest = latency_longest(t);
    for (uint32_t id = 0; id < t->row_limit; id++) {
        int64_t value = value_of(t, &t->rows[id], o);
        struct row_value item;

        if (!value)
            continue;
        item = item_of(t, &t->rows[id], value, o);
        if (longest && longest[t->nodes[item.node].parent] == id)
            add(&items, &alloc, longest_of(t, &item, id));
        if (item.node && item.value)
            add(&items, &alloc, on_region(t, item));
    }
    free(longest);
    row_values_sort(&items);
    return items;
}

/* Adds an item for each link that the row has as the first of its kind, and one without a link if
 * the row has time of none. */
static void add_links_of_row(const struct trace *t, const struct row_value_options *o, uint32_t row,
                             const struct row_value *item, struct row_values *items, size_t *alloc)
{
    struct row_value one = *item;
    uint32_t waker;

    if (chainsplit_rest(o->split, row, o->view->value(t, &t->rows[row])))
        add(items, alloc, *item);
    if (chainsplit_first(o->split, row) != row)
        return;
    one.node = off_sleeper(t, item->node, &waker);
    for (one.link = o->split->of_row[row]; one.link; one.link = o->split->link[one.link].next)
        add(items, alloc, one);
}

struct row_values row_values_of_rows(const struct trace *t, const struct row_value_options *o)
{
    struct row_values items = {NULL, 0};
    size_t alloc = 0;

    for (uint32_t id = 0; id < t->row_limit; id++) {
        struct row_value item;

        if (!value_of(t, &t->rows[id], o))
            continue;
        item = item_of(t, &t->rows[id], id, o);
        if (!o->tid && o->view->recorder == TRACE_RECORDER_MEM)
            item.thread = 0;
        if (o->split)
            add_links_of_row(t, o, id, &item, &items, &alloc);
        else if (item.node)
            add(&items, &alloc, on_region(t, item));
    }
    row_values_sort(&items);
    return items;
}
