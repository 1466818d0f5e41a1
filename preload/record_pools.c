/*
 * Recording of the blocks that the program's own allocators hand out of memory that they have, its
 * backing. If the backing is a recorded block, its row gives up the bytes of what is handed out.
 */
#define _GNU_SOURCE
#include <errno.h>

#include "preload/counted_event.h"
#include "preload/free_txn.h"
#include "preload/peak.h"
#include "preload/record.h"

/* Subtracts `bytes` from the row of the block's backing: its size when it is handed out, minus
 * its size when it is taken back. False: it has no backing that counts. */
static bool shift(struct thread_state *t, const struct pool_block *b, uint64_t bytes)
{
    struct trace_header *h = store.writer.header;
    uint32_t row;
    bool counts;

    if (!b->backing_row)
        return false;
    row = free_row(t, b->backing_row, &counts);
    if (!row) {
        if (counts)
            count_lost(&h->lost_frees, 1);
        return counts;
    }
    peak_keep_share(h, store_row(row));
    store_row(row)->alloc_bytes -= bytes;
    return true;
}

void record_pool_alloc(const struct pool_block *b)
{
    struct thread_state *t = guard.self;
    struct trace_header *h = store.writer.header;
    struct trace_row *row = store_row(b->row);
    bool alone = threads_count() == 1, within = shift(t, b, b->size);

    if (within)
        peak_keep_share(h, row);
    else
        peak_add(h, t, row, b->size, alone);
    row->alloc_bytes += b->size;
    row->alloc_calls++;
    if (!within)
        peak_check(h, t, alone);
    if (feature_on(FEATURE_LIFETIMES))
        record_pool_birth(t, b->row, b->size);
    t->last_block = 0;
}

void record_pool_free(const struct pool_block *b)
{
    struct thread_state *t = guard.self;
    struct trace_header *h = store.writer.header;
    bool within = shift(t, b, -b->size), counts;
    uint32_t own = free_row(t, b->row, &counts);
    struct trace_row *row;

    if (!own) {
        if (counts)
            count_lost(&h->lost_frees, 1);
        return;
    }
    row = store_row(own);
    record_death(t, b->row, own, b->born, (struct weight){b->size, 1});
    if (within)
        peak_keep_share(h, row);
    else
        peak_sub(h, t, row, b->size);
    row->free_bytes += b->size;
    row->free_calls++;
    t->last_block = 0;
}

static void free_with_backing(const struct pool_block *b, void *arg FLAME_UNUSED)
{
    record_pool_free(b);
}

void record_backing_free(uintptr_t p)
{
    struct thread_state *t = threads_self();
    int saved;

    if (!t || !pools_may_be_backing(p))
        return;
    saved = *t->errno_at;
    pools_lock();
    pools_backing_gone(p, free_with_backing, NULL);
    pools_unlock();
    *t->errno_at = saved;
}
