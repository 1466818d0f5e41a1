#include "preload/resident/residentrows.h"

#include "preload/resident/ownernodes.h"

static struct {
    struct pairs nodes; /* ownernodes.h */
    struct pairs rows;  /* row ids by flags and node */
} g;

/* Writing to a trace, for one thread. */
struct writing {
    struct thread_state *t;
    uint16_t thread; /* thread that the rows belong to */
    bool full;
};

/* The node of that kind above `below`; 0: there is no room. */
static uint32_t node_above(struct writing *w, uint32_t below, uint32_t number, uint32_t kind)
{
    return ownernodes_above(&g.nodes, w->t, below, number, kind);
}

static void put(struct writing *w, uint32_t node, uint16_t flags, uint64_t bytes)
{
    uint32_t row;

    if (!bytes)
        return;
    row = node ? pairs_find(&g.rows, flags, node) : 0;
    if (!row && node && pairs_make_room(&g.rows) && (row = threads_new_row(w->t, node, flags)))
        pairs_add(&g.rows, flags, node, row);
    if (!row) {
        w->full = true;
        return;
    }
    store_row(row)->thread = w->thread;
    store_row(row)->alloc_bytes += bytes;
}

static void put_tally(struct writing *w, uint32_t node, const struct page_tally *tally)
{
    for (enum page_kind kind = PAGE_PLAIN; kind < PAGE_KINDS; kind++) {
        uint32_t number = pageindex_resident_kind(kind);

        if (kind == PAGE_SWAPPED)
            put(w, node, TRACE_ROW_SWAPPED, tally->bytes[kind]);
        else if (tally->bytes[kind])
            put(w, number ? node_above(w, node, number, TRACE_NODE_RESIDENT) : node,
                TRACE_ROW_RESIDENT, tally->bytes[kind]);
    }
}

static bool is_empty(const struct row_tally *row)
{
    uint64_t all = row->rounded | row->around;

    for (int kind = 1; kind < PAGE_KINDS; kind++)
        all |= row->tally.bytes[kind];
    return !all;
}

static void put_row(struct writing *w, uint32_t id, const struct row_tally *row)
{
    uint32_t node = ownernodes_row(&g.nodes, w->t, id, &w->thread);

    put_tally(w, node, &row->tally);
    if (row->rounded)
        put(w, node_above(w, node, TRACE_RESIDENT_ROUNDED, TRACE_NODE_RESIDENT), TRACE_ROW_SLACK,
            row->rounded);
    if (row->around)
        put(w, node_above(w, node, TRACE_RESIDENT_AROUND, TRACE_NODE_RESIDENT), TRACE_ROW_SLACK,
            row->around);
}

static void put_part(struct writing *w, const struct nonheap_part *p)
{
    uint32_t node = ownernodes_part(&g.nodes, w->t, p);

    put_tally(w, node, &p->tally);
    put(w, node, TRACE_ROW_SLACK, p->idle);
}

static bool is_there(const struct nonheap_part *p)
{
    const struct row_tally all = {.tally = p->tally, .around = p->idle};

    return !is_empty(&all);
}

bool residentrows_write(struct thread_state *t, const struct attribution *a)
{
    struct writing w = {.t = t};

    for (uint32_t i = 0; i < g.rows.size; i++)
        if (g.rows.known[i].value)
            store_row(g.rows.known[i].value)->alloc_bytes = 0;
    for (uint32_t id = 0; id < a->nrows; id++)
        if (!is_empty(&a->rows[id]))
            put_row(&w, id, &a->rows[id]);
    w.thread = t->id;
    for (uint32_t i = 0; i < nonheap_parts_count(); i++)
        if (is_there(nonheap_parts_at(i)))
            put_part(&w, nonheap_parts_at(i));
    __atomic_fetch_or(&store.writer.header->features, TRACE_FEATURE_RESIDENT, __ATOMIC_RELAXED);
    return !w.full;
}

void residentrows_forget(void)
{
    pairs_clear(&g.nodes);
    pairs_clear(&g.rows);
}
