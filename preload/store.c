#include "preload/store.h"

#include <errno.h>

struct store store;

/* Lock held. */
static bool refill(struct store_kind *kind, char **segments, uint32_t nsegments,
                   enum trace_segment_type type, uint32_t record_size, uint32_t shift,
                   uint32_t first_slot)
{
    uint32_t index;
    char *s = trace_writer_segment(&store.writer, type, record_size, &index);

    if (!s || index >= nsegments)
        return false;
    __atomic_store_n(&segments[index], s, __ATOMIC_RELEASE);
    kind->cursor = (index << shift) + first_slot;
    kind->end = (index + 1) << shift;
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

    leaflock_take(&store.lock);
    if (store.nodes.cursor == store.nodes.end)
        ok = refill(&store.nodes, store.node_segments, STORE_SEGMENTS, TRACE_SEG_NODES,
                    sizeof(struct trace_node), TRACE_NODE_SHIFT, TRACE_NODE_FIRST_SLOT);
    if (ok)
        hand_out(&store.nodes, want, chunk);
    leaflock_drop(&store.lock);
    return ok;
}

bool store_rows(uint32_t want, struct id_chunk *chunk)
{
    bool ok = true;

    leaflock_take(&store.lock);
    if (store.rows.cursor == store.rows.end)
        ok = refill(&store.rows, store.row_segments, STORE_SEGMENTS, TRACE_SEG_ROWS,
                    sizeof(struct trace_row), TRACE_ROW_SHIFT, TRACE_ROW_FIRST_SLOT);
    if (ok)
        hand_out(&store.rows, want, chunk);
    leaflock_drop(&store.lock);
    return ok;
}

uint32_t store_thread(void)
{
    struct id_chunk chunk = {0, 0};

    leaflock_take(&store.lock);
    if (store.threads.cursor != store.threads.end ||
        refill(&store.threads, store.thread_segments, ARRAY_LEN(store.thread_segments),
               TRACE_SEG_THREADS, sizeof(struct trace_thread), TRACE_THREAD_SHIFT,
               TRACE_THREAD_FIRST_SLOT))
        hand_out(&store.threads, 1, &chunk);
    leaflock_drop(&store.lock);
    return chunk.next;
}

int store_copy(const struct store *parent)
{
    for (uint32_t i = 0; i < STORE_SEGMENTS && parent->node_segments[i]; i++) {
        if (!refill(&store.nodes, store.node_segments, STORE_SEGMENTS, TRACE_SEG_NODES,
                    sizeof(struct trace_node), TRACE_NODE_SHIFT, TRACE_NODE_FIRST_SLOT))
            return -ENOSPC;
        memcpy(store.node_segments[i] + sizeof(struct trace_segment),
               parent->node_segments[i] + sizeof(struct trace_segment),
               TRACE_SEGMENT_SIZE - sizeof(struct trace_segment));
        /* What follows in the last one may be half-written by the parent's other
         * threads; our own ids start in a fresh segment. */
        store.nodes.cursor = store.nodes.end;
    }
    for (uint32_t i = 0; i < ARRAY_LEN(store.thread_segments) && parent->thread_segments[i]; i++) {
        struct trace_thread *t;

        if (!refill(&store.threads, store.thread_segments, ARRAY_LEN(store.thread_segments),
                    TRACE_SEG_THREADS, sizeof(struct trace_thread), TRACE_THREAD_SHIFT,
                    TRACE_THREAD_FIRST_SLOT))
            return -ENOSPC;
        t = (struct trace_thread *)store.thread_segments[i];
        memcpy(t + TRACE_THREAD_FIRST_SLOT,
               (struct trace_thread *)parent->thread_segments[i] + TRACE_THREAD_FIRST_SLOT,
               TRACE_SEGMENT_SIZE - sizeof(struct trace_segment));
        /* Their counts are the parent's story; the names are still wanted. */
        for (uint32_t k = TRACE_THREAD_FIRST_SLOT; k < 1u << TRACE_THREAD_SHIFT; k++) {
            t[k].events = t[k].cost_samples = t[k].cost_ns = 0;
            t[k].live_bytes = t[k].skipped = 0;
        }
        store.threads.cursor = i << TRACE_THREAD_SHIFT;
        for (uint32_t k = TRACE_THREAD_FIRST_SLOT; k < 1u << TRACE_THREAD_SHIFT; k++)
            if (t[k].tid)
                store.threads.cursor = (i << TRACE_THREAD_SHIFT) + k + 1;
        if (store.threads.cursor == i << TRACE_THREAD_SHIFT)
            store.threads.cursor += TRACE_THREAD_FIRST_SLOT;
    }
    return 0;
}
