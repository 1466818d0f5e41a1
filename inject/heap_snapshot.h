/*
 * heap_snapshot.h: the heap of a process as it was at one moment: blocks, what leads to them, and
 * the frames of its threads.
 */
#ifndef FLAME_INJECT_HEAP_SNAPSHOT_H
#define FLAME_INJECT_HEAP_SNAPSHOT_H

#include "inject/agent_trace.h"
#include "inject/memory/heap_scan.h"
#include "inject/old_blocks.h"

struct heap_thread {
    pid_t tid;
    char comm[16];
    uintptr_t sp;
    uintptr_t lo, hi;        /* the mapping that has it */
    uintptr_t control_block; /* the C library's; of other threads than the first it lies above the
                                stack, in the same mapping */
    struct heap_frame {
        uintptr_t sp, pc; /* pc: REMOTE_EXACT where it is no return address */
    } * frames;           /* innermost first */
    size_t nframes;
};

struct heap_snapshot {
    struct agent_blocks blocks; /* row 0: from before, or unknown */
    bool *idle;                 /* of each block: it is free, in a cache of malloc's */
    struct heap_scan scan;      /* the address of a root in a register is the thread's number */
    struct heap_thread *threads;
    size_t nthreads;
    struct old_blocks old; /* where malloc's own data lies; its list of blocks is empty */
};

/* Takes the frames of all threads, which are stopped. */
void heap_snapshot_threads(struct heap_snapshot *h, struct agent_trace *t,
                           const struct allstop *stop, const struct maps_snapshot *maps);
void heap_snapshot_release(struct heap_snapshot *h);

#endif
