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

struct marks_left {
    uint64_t blocks, bytes;
    bool looked;
};

/* `flags`: enum region_flag. False: nobody will look, but marks_end is to be called. */
bool marks_begin(const char *name, uint32_t flags);

/* Ends the newest region of the calling thread. `frame` as look_around has it. */
struct marks_left marks_end(const void *frame);

/*
 * The end of all regions, with the process. marks_lock_open is called before the look, and
 * marks_judge_open in it, if it comes to that; then marks_write_open.
 */
void marks_lock_open(void);
void marks_judge_open(const struct blockmap *map);
void marks_write_open(struct thread_state *t);

void marks_after_fork(void);

#endif
