/*
 * region_check.h: regions that a program marks in itself (preload/flamemem.h), and the scan at
 * their ends for the blocks that they leave behind.
 *
 * The result goes into the trace, as rows of TRACE_ROW_REGION on a TRACE_NODE_REGION above the
 * allocating stack. The guard is held at GUARD_RECORDING. No malloc.
 */
#ifndef FLAME_PRELOAD_LEAK_REGION_CHECK_H
#define FLAME_PRELOAD_LEAK_REGION_CHECK_H

#include <stdbool.h>

#include "preload/leak/blockmap.h"
#include "preload/threads.h"

struct region_check_left {
    uint64_t blocks, bytes;
    bool looked;
};

/* Begins a region; `flags`: enum region_flag. False: there will be no scan, but region_check_end
 * must still be called. */
bool region_check_begin(const char *name, uint32_t flags);

/* Ends the calling thread's newest region. `frame`: as in heap_scan_around. */
struct region_check_left region_check_end(const void *frame);

/*
 * End of all regions, at the end of the process. region_check_lock_open is called before the scan,
 * region_check_judge_open within it if there is one, and region_check_write_open afterwards.
 */
void region_check_lock_open(void);
void region_check_judge_open(const struct blockmap *map);
void region_check_write_open(struct thread_state *t);

void region_check_after_fork(void);

#endif
