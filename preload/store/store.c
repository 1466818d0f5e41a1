#include "preload/store/store.h"

#include <errno.h>

FLAME_BULK struct store store;

/* Segment for inherited rows, to which this process writes nothing. */
static FLAME_BULK char nobodys[TRACE_SEGMENT_SIZE];

/* The caller holds the lock. */
static bool refill(struct store_kind *kind, char **segments, uint32_t nsegments,
                   enum trace_segment_type type, uint32_t record_size, uint32_t shift,
                   uint32_t first_slot)
{
    struct trace_segment *s = trace_writer_segment(&store.writer, type, record_size);
    uint32_t index, records;

    if (!s)
        return false;
    index = kind->first_segment + s->index;
    records = s->units * TRACE_UNIT / record_size;
    /* A trace that is truncated at this moment reads as zeros. */
    if (index >= nsegments || records <= first_slot)
        return false;
    __atomic_store_n(&segments[index], (char *)s, __ATOMIC_RELEASE);
    kind->segments = index + 1;
    kind->cursor = (index << shift) + first_slot;
    kind->end = (index << shift) + records;
    return true;
}

static void hand_out(struct store_kind *kind, uint32_t want, struct id_chunk *chunk)
{
    uint32_t left = kind->end - kind->cursor;

    chunk->next = kind->cursor;
    chunk->end = kind->cursor + (want < left ? want : left);
    kind->cursor = chunk->end;
}

bool store_nodes(uint32_t want, struct id_chunk *chunk)
{
    bool ok = true;

    spinlock_take(&store.lock);
    if (store.nodes.cursor == store.nodes.end)
        ok = refill(&store.nodes, store.node_segments, STORE_SEGMENTS, TRACE_SEG_NODES,
                    sizeof(struct trace_node), TRACE_NODE_SHIFT, TRACE_NODE_FIRST_SLOT);
    if (ok)
        hand_out(&store.nodes, want, chunk);
    spinlock_drop(&store.lock);
    return ok;
}

bool store_rows(uint32_t want, struct id_chunk *chunk)
{
    bool ok = true;

    spinlock_take(&store.lock);
    if (store.rows.cursor == store.rows.end)
        ok = refill(&store.rows, store.row_segments, STORE_SEGMENTS, TRACE_SEG_ROWS,
                    sizeof(struct trace_row), TRACE_ROW_SHIFT, TRACE_ROW_FIRST_SLOT);
    if (ok)
        hand_out(&store.rows, want, chunk);
    spinlock_drop(&store.lock);
    return ok;
}

uint32_t store_thread(void)
{
    struct id_chunk chunk = {0, 0};

    spinlock_take(&store.lock);
    if (store.threads.cursor != store.threads.end ||
        refill(&store.threads, store.thread_segments, ARRAY_LEN(store.thread_segments),
               TRACE_SEG_THREADS, sizeof(struct trace_thread), TRACE_THREAD_SHIFT,
               TRACE_THREAD_FIRST_SLOT))
        hand_out(&store.threads, 1, &chunk);
    spinlock_drop(&store.lock);
    return chunk.next;
}

void store_after_fork(void)
{
    uint32_t rows = store.rows.segments;

    store.lock.held = 0;
    for (uint32_t i = store.rows.first_segment; i < rows; i++)
        store.row_segments[i] = nobodys;
    store.nodes = store.threads = (struct store_kind){0};
    store.rows = (struct store_kind){.first_segment = rows, .segments = rows};
    store.inherited_rows = rows << TRACE_ROW_SHIFT;
    trace_writer_abandon(&store.writer);
}
