/*
 * record.h: what happens to an event, between the hook and the counters.
 *
 * The caller (hooks.c) holds the guard at GUARD_RECORDING, so these are never
 * re-entered by a thread. errno is preserved. No malloc, no lock that the
 * program's code may wait for.
 */
#ifndef FLAME_PRELOAD_RECORD_H
#define FLAME_PRELOAD_RECORD_H

#include "preload/threads.h"
#include "preload/shadow.h"
#include "unwind/local.h"

/* The program got `size` bytes at `p`, by a call from `caller` (LOCAL_CALLER). */
void record_alloc(const void *p, size_t size, const uintptr_t *caller);

/* Blocks are sampled every so many bytes; 0: all are recorded. */
extern uint64_t record_period;

/* Whether a block of `size` bytes is not recorded, because blocks are sampled and no sample
 * point falls into it. If so, its bytes are counted, so ask once for each block. */
static inline bool record_passes(size_t size)
{
    struct thread_state *t = guard.self;

    if (likely(!record_period) || unlikely(!t) || !sampler_passes(&t->sampler, size))
        return false;
    t->last_block = 0;
    return true;
}

/* The program is about to give `p` back. Unknown blocks are ignored. */
void record_free(const void *p);

/*
 * realloc in two steps, as another thread may get the address the moment the
 * real call has let go of it: record_take forgets the block before the call;
 * afterwards either record_taken_free counts it as freed, or record_put_back
 * restores it because the call failed. False: the block was not known.
 */
bool record_take(const void *p, struct block *b);
void record_taken_free(const void *p, struct block b);
void record_put_back(const void *p, struct block b);

/* Record one block in so many bytes; 0: all. */
void record_set_sample(uint64_t period);

/* Sets the function that is called once the run is over (notes.h). Whether it is over is
 * looked at now and then. */
void record_set_over(void (*then)(void));

/* Walk every stack twice and compare (a test mode). */
void record_set_referee(void);

#endif
