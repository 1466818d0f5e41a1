/*
 * record.h: what happens to an event, between the hook and the counters.
 *
 * The caller (hooks.c) holds the guard at GUARD_RECORDING, so these are never
 * re-entered by a thread. errno is preserved. No malloc, no lock that the
 * program's code may wait for.
 */
#ifndef FLAME_PRELOAD_RECORD_H
#define FLAME_PRELOAD_RECORD_H

#include "preload/shadow/shadow.h"
#include "preload/threads.h"
#include "preload/watch/pools.h"
#include "preload/watch/watching.h"
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

    if (likely(!record_period) || unlikely(!t) || t->paused || !sampler_passes(&t->sampler, size))
        return false;
    t->last_block = 0;
    return true;
}

/* What record_free comes to for a block that was known: where nothing is watched, and where
 * something is. */
void record_plain_free(const void *p, struct block b);
void record_watched_free(const void *p, struct block b);

/* The program is about to give back a block that is not recorded, as one that was left out is
 * (preload/watch/pausedblocks.h); and it did not, after all. */
void record_unknown_free(const void *p);
void record_unknown_back(const void *p);

/*
 * Where page faults are recorded: counts those that there have been for whoever has the memory now,
 * so before a block or a mapping goes (preload/touched/ has it).
 */
enum record_touched {
    RECORD_TOUCHED_MANY, /* if there may soon be no room for more */
    RECORD_TOUCHED_ALL,
    RECORD_TOUCHED_LAST, /* and how many the kernel had no room for */
};
void record_touched(enum record_touched when);

/* The program is about to give `p` back. Unknown blocks are ignored. Inline: a call less for
 * each free. */
static inline void record_free(const void *p)
{
    struct block b;

    if (watch_has(WATCH_FAULTS))
        record_touched(RECORD_TOUCHED_ALL);
    if (!shadow_take((uintptr_t)p, &b)) {
        if (watch_has(WATCH_LEFT_OUT))
            record_unknown_free(p);
        return;
    }
    if (unlikely(watch_is_on()))
        record_watched_free(p, b);
    else
        record_plain_free(p, b);
}

/* A pool has handed a block out, whose row is the calling thread's own; and took it back. With the
 * pools' lock, and where blocks are not sampled. */
void record_pool_alloc(const struct pool_block *b);
void record_pool_free(const struct pool_block *b);

/* The calling thread's node for its stack from `caller` on; 0: there is no room. */
uint32_t record_node(const uintptr_t *caller);

/* The same from a place in the C library that is at work there: nothing is loaded for it. errno
 * may change. */
uint32_t record_node_within(struct walk_regs regs);

/* The calling thread's row for its stack from `caller` on, in which nothing need be counted;
 * 0: there is no room. */
uint32_t record_stack(const uintptr_t *caller);

/*
 * realloc in two steps, as another thread may get the address the moment the
 * real call has let go of it: record_take forgets the block before the call;
 * afterwards either record_taken_free counts it as freed, or record_put_back
 * restores it because the call failed. False: the block was not known.
 */
bool record_take(const void *p, struct block *b);
void record_taken_free(const void *p, struct block b);
void record_put_back(const void *p, struct block b);

/*
 * Where lifetimes are recorded (preload/lifetimes/ has these): thread `t` has counted a block in
 * its row `row`, and the free of a block in its row `row`, which had been born then
 * (t->taken_birth).
 */
void record_birth(struct thread_state *t, uint32_t row, uintptr_t p, uint64_t size,
                  struct weight w);
void record_death(struct thread_state *t, uint32_t row, struct weight w);

/* The same of what a pool hands out, which knows its birth itself (pool_block.born). */
void record_pool_birth(struct thread_state *t, uint32_t row, uint64_t size);

/*
 * Where Python's functions are named (preload/python/pystacks.c has these): whether thread `t`,
 * which calls this, runs any; its stack t->stack with their names, valid until the next call, or
 * false if there are none; whether the module of a pc of its stack is an interpreter; and an
 * interpreter was met of a version that is not known (pyframes_look), or 0.
 */
bool record_in_python(struct thread_state *t);
bool record_with_python(struct thread_state *t, struct cut_stack *out);
void record_python_module(uintptr_t pc);
void record_python_unknown(uint32_t version);
/* Memory goes, or other memory comes to its place. Any thread. */
void record_python_memory_goes(void);

/* Record one block in so many bytes; 0: all. */
void record_set_sample(uint64_t period);

/* Sets the function that is called once the run is over (notes.h). Whether it is over is
 * looked at now and then. */
void record_set_over(void (*then)(void));

/* Walk every stack twice and compare (a test mode). */
void record_set_referee(void);

#endif
