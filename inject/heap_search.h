/*
 * heap_search.h: search of a process's heap at the end of its recording: its blocks, what leads to
 * them, and the owners of its resident memory.
 *
 * A search takes longer than a copy of the memory that it reads. So it copies that memory while all
 * threads are stopped, and reads the copy when they are resumed. Without room for a copy it reads
 * the process's memory while the threads are stopped. Owners of resident pages are found then in
 * any case, and need the blocks, so there is no copy for them.
 *
 *   heap_search_begin     while the process runs
 *   heap_search_stopped   with all threads stopped, and nothing recorded any more; or not at all
 *   heap_search_end       once the threads run again
 *   heap_search_release
 */
#ifndef FLAME_INJECT_HEAP_SEARCH_H
#define FLAME_INJECT_HEAP_SEARCH_H

#include "inject/attachment.h"
#include "inject/heap_roots.h"
#include "inject/heap_snapshot.h"

/* The process, and what is asked of it. All pointers are borrowed. */
struct heap_search_target {
    pid_t pid;
    const struct procmem *mem;
    struct maps_snapshot *maps; /* read anew when the threads are stopped */
    const struct linkmap *link;
    const struct allstop *stop;
    const struct agent_state *agent;
    struct agent_trace *trace;
    uintptr_t real_malloc; /* the program's malloc */
    uintptr_t program;     /* an address in the first page of the program's file */
    bool leaks, resident, kept;
    bool knows_old; /* blocks from before the recording are looked for */
};

struct heap_search {
    struct heap_search_target of;
    struct heap_snapshot heap; /* what was found */
    bool done;                 /* with success */
    const char *unlooked;      /* reason for a failure, or NULL */
    uint64_t stopped_ns;       /* duration of heap_search_stopped */
    size_t broken;             /* heaps of malloc that could not be followed to their ends */
    struct resident_sum resident;
    /* Data of the process as it was while its threads were stopped, from begin to end. */
    struct heap_search_copy {
        struct held_memory memory; /* no buffer: there is no copy of its memory */
        struct heap_roots_threads threads;
        struct agent_leaf *leaves; /* NULL: the search has not begun, or has ended */
        size_t nleaves;
        bool whole;
    } copy;
};

/* Gets room for a copy. */
void heap_search_begin(struct heap_search *s, const struct heap_search_target *of);
/* Makes a copy, or searches. */
void heap_search_stopped(struct heap_search *s);
/* Searches a copy, and releases it. */
void heap_search_end(struct heap_search *s);
/* Releases what was found. */
void heap_search_release(struct heap_search *s);

#endif
