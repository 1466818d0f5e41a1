/*
 * peak.h: the bytes that each stack held when the most memory was live (the peak).
 *
 * Exact with one recorded thread, in a few instructions an event. A row stores its share lazily.
 * While total live bytes are at their maximum, a row's share is its present live bytes. The first
 * change of the row after that stores the old value as its share, with the number of the maximum
 * (the epoch). A new maximum begins a new epoch, which invalidates all stored shares at once.
 *
 * With N recorded threads, a thread adds up the live bytes of all threads only when its own have
 * grown by PEAK_STEP since it last did so. So the maximum found is at most N * PEAK_STEP below the
 * true one (between two sums no thread grows by PEAK_STEP without making one itself), plus what
 * other threads allocate during the microsecond of the sum. The shares belong to the instant of
 * that sum.
 *
 * Rejected: one shared counter. It is exact, but costs two contended atomic operations an event.
 */
#ifndef FLAME_PRELOAD_PEAK_H
#define FLAME_PRELOAD_PEAK_H

#include "preload/threads.h"

#define PEAK_STEP 8192

/* True once a share has been stored in the present epoch. Written by all threads; only a hint that
 * a new maximum needs a new epoch. */
extern bool peak_dirty;

static inline uint64_t peak_load(const uint64_t *p)
{
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}

/* Stores the row's share. To be called before a row's live bytes or calls change. */
static inline void peak_keep_share(struct trace_header *h, struct trace_row *row)
{
    uint32_t epoch = __atomic_load_n(&h->peak_epoch, __ATOMIC_RELAXED);

    if (row->peak_epoch == epoch)
        return;
    row->peak_bytes = row->alloc_bytes - row->free_bytes;
    row->peak_calls = (uint32_t)(row->alloc_calls - row->free_calls);
    row->peak_epoch = epoch;
    if (!peak_dirty)
        __atomic_store_n(&peak_dirty, true, __ATOMIC_RELAXED);
}

/* To be called when a new maximum of live bytes has just been reached, or is about to be. */
static inline void peak_begin_epoch(struct trace_header *h)
{
    if (!peak_dirty)
        return;
    peak_dirty = false;
    __atomic_fetch_add(&h->peak_epoch, 1, __ATOMIC_RELAXED);
}

/* Adds up the live bytes of all threads and raises the maximum. */
void peak_look(struct trace_header *h, struct thread_state *t);

/*
 * Counts `size` more live bytes for thread `t` in `row`. `alone`: no other thread has ever been
 * recorded.
 */
static inline void peak_add(struct trace_header *h, struct thread_state *t, struct trace_row *row,
                            uint64_t size, bool alone)
{
    int64_t live = (int64_t)(t->record->live_bytes + size);

    __atomic_store_n(&t->record->live_bytes, (uint64_t)live, __ATOMIC_RELAXED);
    if (alone && live > (int64_t)h->peak_bytes) {
        h->peak_bytes = (uint64_t)live;
        peak_begin_epoch(h);
    } else {
        peak_keep_share(h, row);
    }
}

/* To be called after the row has been changed by an allocation. */
static inline void peak_check(struct trace_header *h, struct thread_state *t, bool alone)
{
    if (!alone && (int64_t)t->record->live_bytes - t->peak_since >= PEAK_STEP)
        peak_look(h, t);
}

static inline void peak_sub(struct trace_header *h, struct thread_state *t, struct trace_row *row,
                            uint64_t size)
{
    int64_t live = (int64_t)(t->record->live_bytes - size);

    peak_keep_share(h, row);
    __atomic_store_n(&t->record->live_bytes, (uint64_t)live, __ATOMIC_RELAXED);
    if (live < t->peak_since)
        t->peak_since = live;
}

#endif
