/*
 * regions.h: live blocks by the region that they were allocated in: the time between two marks that
 * the program has set (preload/flamemem.h).
 *
 * A region is a number from 1 on as long as it is open; then the number is used again. A block
 * belongs to one region: to the newest that its thread has opened, or else to the newest for all
 * threads. Memory: 16 to 64 bytes for each live block that belongs to one.
 *
 * Any thread may call these at any time, unless stated otherwise. A signal handler that interrupted
 * one of them may call none of them (the guard ensures that). No malloc.
 */
#ifndef FLAME_PRELOAD_SIDETABLES_REGIONS_H
#define FLAME_PRELOAD_SIDETABLES_REGIONS_H

#include <stdbool.h>

#include "preload/sidetables/features.h"

#define REGIONS_MAX 1024u   /* open at once, from 1 on */
#define REGION_NAME_MAX 256 /* bytes, with a NUL; longer names are truncated */

enum region_flag {
    REGION_EVERYWHERE = 1u << 0, /* blocks of all threads belong to it */
    REGION_LIVE =
        1u << 1, /* all blocks that are live at its end count as left behind, reachable or not */
    REGION_BLIND = 1u << 2, /* it has no blocks: nothing is checked at its end */
};

struct region {
    char name[REGION_NAME_MAX];
    uint32_t flags; /* enum region_flag */
    uint32_t outer; /* the region its thread was in before; 0: none */
    bool open;
    bool incomplete; /* there was no memory to record all its blocks */
    uint64_t blocks; /* number that belong to it */
};

/* Opens a region in a thread whose newest is `outer` (0: none). Returns 0 if REGIONS_MAX are
 * open. */
uint32_t regions_open(const char *name, uint32_t flags, uint32_t outer);

/* Closes a region: no more blocks are added; those it has stay until regions_end. */
void regions_close(uint32_t region);

/* Ends a region, which must be closed and have no blocks. */
void regions_end(uint32_t region);

/* State of an open or closed region. */
const struct region *regions_at(uint32_t region);

/* The region that gets the blocks that are neither left behind nor freed when `region`, which is
 * closed, ends: its outer region, or the newest for all threads. 0: none. */
uint32_t regions_heir(uint32_t region);

/* Records that the block at `addr` has just been allocated, by a thread whose newest region is
 * `own` (0: none). */
FLAME_COLD void regions_note(uintptr_t addr, uint32_t own);

/* To be called before a block is freed. Returns its region, 0: none. */
FLAME_COLD uint32_t regions_take(uintptr_t addr);

/* To be called if the free after regions_take has failed. */
FLAME_COLD void regions_put_back(uintptr_t addr, uint32_t region);

/*
 * Lock: between these two only the calling thread can add or take blocks. A leaf lock, like
 * spinlock.h; it may be held while other threads are stopped.
 */
void regions_lock(void);
void regions_unlock(void);

/* Calls `visit` for each block of a region (0: of all). It returns the region that the block
 * belongs to from then on, 0: none. With the lock held. */
void regions_each(uint32_t region, uint32_t (*visit)(uintptr_t addr, uint32_t region, void *arg),
                  void *arg);

/* Removes a block from `region`, if it belongs to it. With the lock held. */
void regions_drop(uintptr_t addr, uint32_t region);

/* Whether a block belongs to `region`. With the lock held. */
bool regions_has(uintptr_t addr, uint32_t region);

/* Number of blocks that belong to regions. With the lock held. */
uint64_t regions_blocks(void);

/* In a forked child, in which no region is open. */
void regions_after_fork(void);

/* For tests: number of the table's entries that held a block and can serve no other yet. */
uint32_t regions_gone(void);

#endif
