/*
 * counted_event.h: common parts of recording an allocation and recording a free. Each event is
 * numbered, and now and then one is timed. Lost events are counted.
 */
#ifndef FLAME_PRELOAD_COUNTED_EVENT_H
#define FLAME_PRELOAD_COUNTED_EVENT_H

#include "common/clock.h"
#include "common/hash.h"
#include "preload/threads.h"

/*
 * Whether the event is timed: one in 256 is, for the estimate of the cost of recording. The first
 * is not, because it runs code that has not run before. Every 256th would not do either: blocks of
 * 112 bytes would have it at the same place of a page each time.
 */
static inline bool event_is_timed(uint64_t event)
{
    return (uint32_t)event * HASH_GOLDEN32 >> 24 == 255;
}

/* Begins the recording of an event. Returns when, on CLOCK_MONOTONIC in nanoseconds; 0: this event
 * is not timed. */
static inline uint64_t event_begin(struct thread_state *t)
{
    uint64_t n = t->record->events;

    __atomic_store_n(&t->record->events, n + 1, __ATOMIC_RELAXED);
    return unlikely(event_is_timed(n)) ? clock_ns(CLOCK_MONOTONIC) : 0;
}

/* The end of an event that is timed: counts its cost, and checks whether the run is over
 * (preload/record.c has it). errno may change. */
void event_timed(struct thread_state *t, uint64_t start);

/* Ends the recording of an event. `start`: from event_begin. errno may change. */
static inline void event_end(struct thread_state *t, uint64_t start)
{
    if (unlikely(start))
        event_timed(t, start);
}

/* Adds to a counter in the trace's header. Any thread. */
static inline void count_lost(uint64_t *counter, uint64_t by)
{
    __atomic_fetch_add(counter, by, __ATOMIC_RELAXED);
}

#endif
