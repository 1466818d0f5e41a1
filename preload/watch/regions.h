/*
 * regions.h: which live blocks were allocated in which region, that is between two marks that
 * the program has set (preload/flamemem.h).
 *
 * A region is a number from 1 on as long as it is open; then the number is used again. A
 * block belongs to one region: to the newest that its thread has opened, else to the newest
 * that takes in all threads. Memory: 16 to 64 bytes for each live block that belongs to one.
 *
 * Any thread may call these at any time but where it says otherwise; in a signal handler that
 * interrupted one of them nothing here may be called (the guard sees to that). No malloc.
 */
#ifndef FLAME_PRELOAD_WATCH_REGIONS_H
#define FLAME_PRELOAD_WATCH_REGIONS_H

#include <stdbool.h>

#include "preload/watch/watching.h"

#define REGIONS_MAX 1024u   /* open at once, from 1 on */
#define REGION_NAME_MAX 256 /* bytes, with a NUL; more are cut off */

enum region_flag {
    REGION_EVERYWHERE = 1u << 0, /* blocks of all threads belong to it */
    REGION_LIVE = 1u << 1,       /* what is live at its end is left, whatever leads to it */
    REGION_BLIND = 1u << 2,      /* it has no blocks: nobody will look */
};

struct region {
    char name[REGION_NAME_MAX];
    uint32_t flags; /* enum region_flag */
    uint32_t outer; /* the region its thread was in before; 0: none */
    bool open;
    bool incomplete; /* there was no memory to note all its blocks */
    uint64_t blocks; /* that belong to it */
};

/* Opens one in a thread whose newest is `outer` (0: none). 0: REGIONS_MAX are open. */
uint32_t regions_open(const char *name, uint32_t flags, uint32_t outer);

/* No more blocks come to it; those it has stay until regions_end. */
void regions_close(uint32_t region);

/* To be called when it has been closed and no block belongs to it any more. */
void regions_end(uint32_t region);

/* What is known of an open or closed one. */
const struct region *regions_at(uint32_t region);

/* Who takes over what is neither left nor freed when `region`, which is closed, ends: its
 * outer region, or the newest of all threads. 0: nobody. */
uint32_t regions_heir(uint32_t region);

/* The block at `addr` has just been allocated, by a thread whose newest region is `own` (0:
 * none). */
FLAME_COLD void regions_note(uintptr_t addr, uint32_t own);

/* It is about to be freed. Returns its region, 0: none. */
FLAME_COLD uint32_t regions_take(uintptr_t addr);

/* The free that regions_take was called for has failed. */
FLAME_COLD void regions_put_back(uintptr_t addr, uint32_t region);

/*
 * Between these two only the calling thread can note or take blocks. A leaf, like
 * spinlock.h; it may be held while other threads are made to stand.
 */
void regions_lock(void);
void regions_unlock(void);

/* With the lock: calls `visit` for each block of a region (0: of all). What it returns is the
 * region the block belongs to from then on, 0: none. */
void regions_each(uint32_t region, uint32_t (*visit)(uintptr_t addr, uint32_t region, void *arg),
                  void *arg);

/* With the lock: a block belongs to `region` no more, if it does. */
void regions_drop(uintptr_t addr, uint32_t region);

/* With the lock: whether a block belongs to `region`. */
bool regions_has(uintptr_t addr, uint32_t region);

/* How many blocks belong to regions. With the lock. */
uint64_t regions_blocks(void);

/* In a forked child, in which no region is open. */
void regions_after_fork(void);

/* For tests: entries of the table that held a block and can serve no other yet. */
uint32_t regions_gone(void);

#endif
