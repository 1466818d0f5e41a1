#define _GNU_SOURCE
#include "preload/free_txn.h"

#include <errno.h>

#include "preload/counted_event.h"
#include "preload/fork_inherit.h"
#include "preload/peak.h"
#include "preload/record.h"
#include "preload/sandbox.h"
#include "preload/sidetables/birthmap.h"
#include "preload/sidetables/pausedblocks.h"
#include "preload/sidetables/regions.h"

/* free_row for a row that is not the thread's own. */
static FLAME_COLD uint32_t others_row(struct thread_state *t, uint32_t row, bool *counts)
{
    uint64_t addr;

    if (row >= store.inherited_rows)
        return threads_remote_free_row(t, store_row(row)->node);
    addr = fork_inherit_node_addr(row);
    *counts = addr != 0;
    return addr ? threads_inherited_row(t, row, addr) : 0;
}

uint32_t free_row(struct thread_state *t, uint32_t row, bool *counts)
{
    *counts = true;
    return store_row(row)->thread == t->id ? row : others_row(t, row, counts);
}

/* Counts the free of a block in the thread's row for it. `birth`: NULL, or the block's, if a
 * feature may track it. */
FLAME_INLINE void count_free(struct thread_state *t, uintptr_t p, struct block b, struct weight w,
                             const uint64_t *birth)
{
    struct trace_header *h = store.writer.header;
    struct trace_row *row = store_row(b.row);
    uint32_t own = b.row;
    bool counts = true;

    if (unlikely(row->thread != t->id)) {
        own = others_row(t, b.row, &counts);
        if (!own) {
            if (counts)
                count_lost(&h->lost_frees, 1);
            return;
        }
        row = store_row(own);
    }
    if (birth)
        record_death(t, b.row, own, *birth, w);
    peak_sub(h, t, row, w.bytes);
    row->free_bytes += w.bytes;
    row->free_calls += w.calls;
    if (t->last_block == p) {
        row->temp_calls += w.calls;
        t->last_block = 0;
    }
}

FLAME_INLINE void record_free(uintptr_t p, struct block b, struct weight w, const uint64_t *birth)
{
    struct thread_state *t = threads_self();
    uint64_t start;
    int saved;

    if (unlikely(!t)) {
        if (!sandbox_on())
            count_lost(&store.writer.header->lost_frees, 1);
        return;
    }
    saved = *t->errno_at;
    start = event_begin(t);
    count_free(t, p, b, w, birth);
    event_end(t, start);
    *t->errno_at = saved;
}

void free_count(const void *p, struct block b)
{
    record_free((uintptr_t)p, b, (struct weight){b.size, 1}, NULL);
}

void free_commit_tracked(const struct free_txn *f)
{
    record_free(f->addr, f->block, record_weight(f->addr, f->block.size), &f->birth);
}

void free_begin_tracked(struct free_txn *f)
{
    uint32_t on = any_feature_on();

    if (on & FEATURE_FAULTS)
        first_touch_drain(DRAIN_ALL);
    if (!shadow_take(f->addr, &f->block)) {
        f->what = on & FEATURE_REMEMBER_PAUSED && pausedblocks_take(f->addr, &f->block.size)
                      ? FREE_UNCOUNTED
                      : FREE_OF_UNKNOWN;
        return;
    }
    f->what = FREE_TRACKED;
    if (on & FEATURE_POOLS)
        record_backing_free(f->addr);
    f->birth = on & FEATURE_LIFETIMES ? births_at(f->addr) : 0;
    f->region = on & FEATURE_REGIONS ? regions_take(f->addr) : 0;
}

void free_restore(const struct free_txn *f)
{
    if (f->what == FREE_UNCOUNTED) {
        pausedblocks_put(f->addr, f->block.size);
        return;
    }
    shadow_put(f->addr, f->block);
    if (f->what == FREE_TRACKED && f->region)
        regions_put_back(f->addr, f->region);
}
