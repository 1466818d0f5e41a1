/*
 * region_check.h: the regions that a program has marked in itself (preload/flamemem.h): their
 * beginnings, and the look for what they leave behind at their ends.
 *
 * What is left goes into the trace: rows of TRACE_ROW_REGION on a TRACE_NODE_REGION above the
 * stack that allocated it. The guard is held at GUARD_RECORDING. No malloc.
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

/* `flags`: enum region_flag. False: nobody will look, but region_check_end is to be called. */
bool region_check_begin(const char *name, uint32_t flags);

/* Ends the newest region of the calling thread. `frame` as heap_scan_around has it. */
struct region_check_left region_check_end(const void *frame);

/*
 * The end of all regions, with the process. region_check_lock_open is called before the look, and
 * region_check_judge_open in it, if it comes to that; then region_check_write_open.
 */
void region_check_lock_open(void);
void region_check_judge_open(const struct blockmap *map);
void region_check_write_open(struct thread_state *t);

void region_check_after_fork(void);

#endif
