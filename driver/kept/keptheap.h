/*
 * keptheap.h: the heap of a process at one moment, as finding its keepers needs it: blocks, which
 * words lead to them, where those lie, and the frames of threads. From a process that is attached
 * to (attached_heap.h), or from the file that a recorded one has left (graph_file.h).
 */
#ifndef FLAME_DRIVER_KEPT_KEPTHEAP_H
#define FLAME_DRIVER_KEPT_KEPTHEAP_H

#include <stdbool.h>

#include "inject/heap_snapshot.h"

/* Where a word lies that is in no block. */
enum kept_place_kind {
    KEPT_IN_MODULE,
    KEPT_IN_MAPPING, /* number: the row of the trace that counts it; 0: not known */
    KEPT_IN_SHARED,
    KEPT_IN_START,     /* memory from before the program began */
    KEPT_IN_STACK,     /* number: of the thread */
    KEPT_IN_STACKS,    /* a stack on which no thread runs */
    KEPT_BELOW_STACK,  /* most likely what calls that have returned have left on a stack */
    KEPT_IN_REGISTERS, /* number: of the thread */
    KEPT_IN_RESULT,    /* of a thread that has ended */
    KEPT_IN_LOADER,    /* the loader's data, or not a word: the loader needs the block */
    KEPT_IN_PAUSED,    /* a block that is not recorded */
    KEPT_IN_FREE_HEAP, /* memory of a heap that is in no block */
    KEPT_IN_MALLOC,    /* malloc's own */
};

struct keptheap {
    const struct agent_block *blocks; /* by address */
    uint32_t nblocks;
    const bool *idle;   /* of each block: it is free, in a cache of malloc's; NULL: none is */
    const bool *others; /* of each block: another process counts it, which forked this one; NULL:
                         * none does */
    const struct heap_scan_root *roots; /* words that lead to blocks. `at` of one in a register is
                                           the thread's number */
    const struct kept_place {
        uint32_t kind, number; /* enum kept_place_kind */
    } * places;                /* of each root */
    size_t nroots;
    const uint32_t *edges_at; /* of each block, and one more: where its edges begin */
    const uint32_t *edges;    /* numbers of blocks, HEAP_SCAN_INSIDE */
    size_t nedges;
    const struct heap_thread *threads;
    size_t nthreads;
    /* Called when all of it but `others` has been read, so that its memory is free for what comes
     * next; NULL: it stays. */
    void (*used_up)(void *arg);
    void *used_up_arg;
};

#endif
