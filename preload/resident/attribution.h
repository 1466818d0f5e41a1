/*
 * attribution.h: owners of the resident pages, byte by byte.
 *
 * A page with several blocks is shared out among them by their bytes in it. Bytes that are in no
 * block, and in no memory that the program has mapped itself, belong to the allocator, a library, a
 * stack, the recorder, or another mapping. So the sum of all tallies equals the size of the pages,
 * to the byte.
 *
 * For one thread, while the others are stopped. It holds the locks of the tables that are walked:
 * map_ranges.h, pools.h, pausedblocks.h, recorder_memory.h. No malloc.
 */
#ifndef FLAME_PRELOAD_RESIDENT_ATTRIBUTION_H
#define FLAME_PRELOAD_RESIDENT_ATTRIBUTION_H

#include "preload/resident/known_ranges.h"

#define ATTRIBUTION_WAITING 16u /* a power of two */

/* Resident memory of a row's stack. */
struct row_tally {
    struct page_tally tally;
    uint64_t rounded, around; /* bytes in no block: see TRACE_ROW_SLACK */
};

struct attribution {
    const char *run; /* the directory of the run, whose files are the recorder's; borrowed */
    size_t run_len;  /* 0: there is no such directory */
    struct pageindex pages;
    struct known_ranges landmarks;
    const struct stopped_world *freeze; /* the stopped threads */
    struct row_tally *rows;             /* by row id, in pages */
    uint32_t nrows;
    size_t rows_room; /* bytes */
    struct mapping_part {
        uint32_t part;   /* part that owns the rest of its pages */
        bool has_blocks; /* a block begins in it, or lies there */
    } * mappings;        /* by number, in pages */
    size_t nmappings, mappings_room;
    struct known_range *allocators; /* mapped by an allocator through interposed functions */
    size_t nallocators;
    struct waiting_block {
        uintptr_t addr;
        uint64_t size;
        uint32_t row;
    } waiting[ATTRIBUTION_WAITING]; /* blocks whose heads are being fetched */
    uint32_t nwaiting;              /* number of blocks ever queued */
    uint32_t taken;                 /* number of these that have been attributed */
    uint32_t rounded, alone; /* parts: the bytes by which blocks are rounded up, and the rest of
                              * pages of large blocks, each of which glibc maps for itself */
    uint64_t rounded_up[PAGE_KINDS];
    uint64_t kernel_bytes;   /* the kernel's own sum, read after everything else */
    uint64_t bytes, swapped; /* sums of all tallies */
    uint64_t blocks, asked, usable, slack;
    int error; /* an errno */
};

/* Makes room for the results. To be called before the other threads are stopped, each time. False:
 * no memory. */
bool attribution_begin(struct attribution *a);

/* Scans. False: a->error has the reason. */
bool attribution_make(struct attribution *a);

/* Frees the rows' memory. */
void attribution_end(struct attribution *a);

#endif
