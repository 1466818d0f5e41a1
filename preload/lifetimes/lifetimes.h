/*
 * lifetimes.h: how large blocks are and how long they live, where that is asked for: counted in
 * rows above their stacks, a row for each class that occurs.
 *
 * A size is counted at the allocation, a lifetime at the free, so that both are there at any
 * instant, whatever ends the process (record_birth and record_death in preload/record.h). What is
 * counted is the calling thread's.
 */
#ifndef FLAME_PRELOAD_LIFETIMES_LIFETIMES_H
#define FLAME_PRELOAD_LIFETIMES_LIFETIMES_H

#include "preload/lifetimes/rowclasses.h"
#include "preload/watch/lifeclock.h"

/* To be called once, before anything is counted. False: no memory. */
bool lifetimes_begin(bool bytes);

/* In a forked child, before it gives its parent's trace up. */
void lifetimes_forget(void);

/* What the clock's lifetimes, or ages, are called. */
enum histogram lifetimes_histogram(bool ages);

/* `now`, the class of what was born then (0: not known). */
static inline uint32_t lifetimes_class(uint64_t birth, uint64_t now)
{
    if (unlikely(!birth))
        return LIFECLASS_UNKNOWN;
    return lifeclock.bytes ? lifeclass_bytes(lifeclock_since(birth, now))
                           : lifeclass_time(lifeclock_since(birth, now));
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
