/*
 * free_txn.h: the free of a block as a transaction around the next definition.
 *
 * free_begin removes the block from what the recorder knows, because another thread may get its
 * address as soon as the allocator has freed it. After the call, either free_commit counts the
 * block as freed, or free_abort restores it because the call has failed. In between, all that was
 * known of the block is in the caller's struct free_txn. A plain free cannot fail, so it is counted
 * before the call (free_block).
 *
 * The caller holds the guard at GUARD_RECORDING in each of these functions, so a thread never
 * re-enters them. errno is preserved. No malloc, no lock that the program's code may wait for.
 */
#ifndef FLAME_PRELOAD_FREE_TXN_H
#define FLAME_PRELOAD_FREE_TXN_H

#include "preload/shadow/shadow.h"
#include "preload/sidetables/features.h"

struct free_txn {
    uintptr_t addr;
    enum {
        FREE_OF_UNKNOWN, /* no block is known at `addr` */
        FREE_PLAIN,      /* no feature tracks blocks */
        FREE_TRACKED,    /* features may track the block */
        FREE_UNCOUNTED,  /* allocated in a pause (preload/sidetables/pausedblocks.h) */
    } what;
    struct block block; /* FREE_UNCOUNTED: only its size */
    /* FREE_TRACKED only: */
    uint32_t region; /* (preload/sidetables/regions.h); 0: none */
    uint64_t birth;  /* (preload/sidetables/birthmap.h); 0: not known */
};

/* Counts the free of block `b` at `p`, which the shadow map no longer has. No feature tracks
 * blocks. */
void free_count(const void *p, struct block b);

/* The steps if a feature tracks blocks, and the rare one. f->addr is set. */
void free_begin_tracked(struct free_txn *f);
void free_commit_tracked(const struct free_txn *f);
void free_restore(const struct free_txn *f);

/* To be called before the program frees `p`. */
FLAME_INLINE void free_begin(struct free_txn *f, const void *p)
{
    f->addr = (uintptr_t)p;
    if (unlikely(any_feature_on()))
        free_begin_tracked(f);
    else
        f->what = shadow_take(f->addr, &f->block) ? FREE_PLAIN : FREE_OF_UNKNOWN;
}

FLAME_INLINE void free_commit(const struct free_txn *f)
{
    if (likely(f->what == FREE_PLAIN))
        free_count((const void *)f->addr, f->block);
    else if (f->what == FREE_TRACKED)
        free_commit_tracked(f);
}

static inline void free_abort(const struct free_txn *f)
{
    if (f->what != FREE_OF_UNKNOWN)
        free_restore(f);
}

/* To be called before the program frees `p` in a way that cannot fail. */
static inline void free_block(const void *p)
{
    struct free_txn f;

    free_begin(&f, p);
    free_commit(&f);
}

struct thread_state;

/* The row in which thread `t` counts frees of the blocks of `row`. 0: there is no room for it; or
 * the block is inherited and does not count, and *counts is false. */
uint32_t free_row(struct thread_state *t, uint32_t row, bool *counts);

#endif
