/*
 * record.h: recording of an event, between the hook and the counters.
 *
 * The caller (hooks.c) holds the guard at GUARD_RECORDING, so these functions are never re-entered
 * by a thread. errno is preserved. No malloc, no lock that the program's code may wait for.
 */
#ifndef FLAME_PRELOAD_RECORD_H
#define FLAME_PRELOAD_RECORD_H

#include "preload/shadow/shadow.h"
#include "preload/threads.h"
#include "preload/sidetables/pools.h"
#include "preload/sidetables/features.h"
#include "unwind/local.h"

/* Records that the program got `size` bytes at `p`, in a call from `caller` (LOCAL_CALLER). */
void record_alloc(const void *p, size_t size, const uintptr_t *caller);

/* Sampling period in bytes; 0: all blocks are recorded. */
extern uint64_t record_period;

/* Whether a block of `size` bytes is not recorded, because blocks are sampled and no sample point
 * falls into it. If so, this counts its bytes, so it must be called once for each block. */
static inline bool record_passes(size_t size)
{
    struct thread_state *t = guard.self;

    if (likely(!record_period) || unlikely(!t) || t->paused || !sampler_passes(&t->sampler, size))
        return false;
    t->last_block = 0;
    return true;
}

/* The weight with which the block of `size` bytes at `p` counts: its own size, unless blocks are
 * sampled. */
static inline struct weight record_weight(uintptr_t p, uint64_t size)
{
    return likely(!record_period) ? (struct weight){size, 1}
                                  : sampler_weight(record_period, size, p);
}

/*
 * Counts the page faults so far for the present owners of the memory, if page faults are recorded.
 * So it must be called before a block is freed or a mapping is removed (preload/firsttouch/ defines
 * it).
 */
enum first_touch_drain {
    DRAIN_IF_NEARLY_FULL, /* drain if there may soon be no room for more */
    DRAIN_ALL,
    DRAIN_AT_END, /* drain, and count the faults for which the kernel had no room */
};
void first_touch_drain(enum first_touch_drain when);

/* Records that a pool has handed out a block, whose row belongs to the calling thread, and that it
 * has taken the block back. The caller holds the pools' lock, and blocks are not sampled. */
void record_pool_alloc(const struct pool_block *b);
void record_pool_free(const struct pool_block *b);

/* To be called before the block at `p` is freed: frees what pools have handed out of it. */
FLAME_COLD void record_backing_free(uintptr_t p);

/* The calling thread's node for its stack from `caller` on. 0: there is no room. */
uint32_t record_node(const uintptr_t *caller);

/* Like record_node, from a place within the C library: libunwind is not loaded for it. errno may
 * change. */
uint32_t record_node_within(struct walk_regs regs);

/* The calling thread's row for its stack from `caller` on, without counting in it. 0: there is no
 * room. */
uint32_t record_stack(const uintptr_t *caller);

/*
 * Recording of lifetimes (preload/lifetimes/ defines these). Thread `t` has counted a block in its
 * row `row`; and it counts, in its row `own`, the free of a block of `row` that was born at `birth`
 * (preload/sidetables/birthmap.h; 0: not known). record_death does nothing if lifetimes are not
 * recorded.
 */
void record_birth(struct thread_state *t, uint32_t row, uintptr_t p, uint64_t size,
                  struct weight w);
void record_death(struct thread_state *t, uint32_t row, uint32_t own, uint64_t birth,
                  struct weight w);

/* Like record_birth, for a block of a pool, which stores its birth itself (pool_block.born). */
void record_pool_birth(struct thread_state *t, uint32_t row, uint64_t size);

/* ---- Python's functions in stacks (preload/python/pystacks.c has these) ---- */

extern struct record_python {
    bool wanted;      /* stacks are to have names; written once */
    bool found;       /* there is an interpreter that is understood */
    uint32_t unnamed; /* as in struct trace_header */
} record_python;

/* Brings up to date what thread `t`, which calls this, runs of them. Whether a cached stack may be
 * used for it. */
bool record_python_may_recall(struct thread_state *t);
/* Sets *out to the stack t->stack with their names, valid until the next call. False: it has
 * none. */
bool record_with_python(struct thread_state *t, struct truncated_stack *out);
/* Examines whether the module of `pc`, an address in a stack, is an interpreter. */
void record_python_module(uintptr_t pc);
/* To be called when memory is unmapped or gets other contents. Any thread. */
void record_python_memory_goes(void);

/* Sets the sampling period in bytes; 0: all blocks are recorded. */
void record_set_sample(uint64_t period);

/* Sets the function that is called once the run is over (run_status_client.h). The end of the run
 * is checked now and then. */
void record_set_over(void (*then)(void));

/* Has every stack walked twice and compared (a test mode). */
void record_set_referee(void);

#endif
