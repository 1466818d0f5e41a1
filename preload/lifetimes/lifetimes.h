/*
 * lifetimes.h: sizes and lifetimes of blocks, recorded on request. They count in rows above the
 * blocks' stacks, one row for each class that occurs.
 *
 * A size is counted at the allocation, a lifetime at the free, by record_birth and record_death
 * (preload/record.h). So the trace has both at any instant, however the process ends. The functions
 * count events of the calling thread.
 */
#ifndef FLAME_PRELOAD_LIFETIMES_LIFETIMES_H
#define FLAME_PRELOAD_LIFETIMES_LIFETIMES_H

#include "preload/lifetimes/rowclasses.h"
#include "preload/sidetables/age_clock.h"

/* To be called once, before anything is counted. `bytes`: the clock counts allocated bytes, not
 * time. False: no memory. */
bool lifetimes_begin(bool bytes);

/* To be called in a forked child, before it gives up its parent's trace. */
void lifetimes_forget(void);

/* The histogram of lifetimes, or of ages, by the clock in use. */
enum histogram lifetimes_histogram(bool ages);

/* The class, at `now`, of a block that was born at `birth` (0: not known). */
static inline uint32_t lifetimes_class(uint64_t birth, uint64_t now)
{
    if (unlikely(!birth))
        return LIFECLASS_UNKNOWN;
    return lifeclock.bytes ? lifeclass_bytes(age_clock_since(birth, now))
                           : lifeclass_time(age_clock_since(birth, now));
}

/* Counts blocks of this weight in a row; NULL: there was no room for it. */
static inline void lifetimes_count(struct trace_row *row, struct weight w)
{
    if (unlikely(!row))
        return;
    row->alloc_bytes += w.bytes;
    row->alloc_calls += w.calls;
}

#endif
