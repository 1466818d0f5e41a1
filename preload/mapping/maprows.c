#include "preload/mapping/maprows.h"

#include "preload/annotated_rows.h"
#include "preload/store/store.h"

static struct annotated_rows rows = ABOVE_ROWS(TRACE_NODE_MAPPING, TRACE_ROW_MAPPED);

void maprows_lose(void)
{
    __atomic_fetch_add(&store.writer.header->lost_mappings, 1, __ATOMIC_RELAXED);
}

bool maprows_paused(size_t size)
{
    const struct thread_state *t = threads_self();

    if (!t || !t->paused)
        return false;
    __atomic_fetch_add(&store.writer.header->paused_calls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&store.writer.header->paused_bytes, size, __ATOMIC_RELAXED);
    return true;
}

uint32_t maprows_row(uint32_t node, uint16_t kind)
{
    struct thread_state *t = threads_self();
    uint32_t row = node && t ? annotated_row(&rows, t, node, t->id, kind) : 0;

    if (row)
        __atomic_fetch_or(&store.writer.header->features, TRACE_FEATURE_MAPPINGS, __ATOMIC_RELAXED);
    else
        maprows_lose();
    return row;
}

void maprows_forget(void)
{
    annotated_rows_forget(&rows);
}
