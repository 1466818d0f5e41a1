/*
 * attribution.h: whose the resident pages are, byte by byte.
 *
 * A page that holds several blocks is shared out among them by their bytes in it; what is in no
 * block, and no memory that the program has mapped itself, is the allocator's, a library's, a
 * stack's, the recorder's, or another mapping's. So all tallies together are the pages, to the
 * byte.
 *
 * For one thread, while the others stand, with the locks held of what is walked: mapped.h,
 * pools.h, pausedblocks.h, ownmemory.h. No malloc.
 */
#ifndef FLAME_PRELOAD_RESIDENT_ATTRIBUTION_H
#define FLAME_PRELOAD_RESIDENT_ATTRIBUTION_H

#include "preload/resident/landmarks.h"

#define ATTRIBUTION_WAITING 16u /* a power of two */

/* What a row's stack has. */
struct row_tally {
    struct page_tally tally;
    uint64_t rounded, around; /* of what is in no block: see TRACE_ROW_SLACK */
};

struct attribution {
    const char *run; /* the directory of the run, whose files are the recorder's; borrowed */
    size_t run_len;  /* 0: there is none */
    struct pageindex pages;
    struct landmarks landmarks;
    const struct freeze *freeze; /* the threads that stand */
    struct row_tally *rows;      /* by row id, in pages */
    uint32_t nrows;
    size_t rows_room; /* bytes */
    struct mapping_part {
        uint32_t part;   /* whose what is left in it is */
        bool has_blocks; /* one begins in it, or lies there */
    } * mappings;        /* by number, in pages */
    size_t nmappings, mappings_room;
    struct landmark *allocators; /* what an allocator has mapped by functions we see */
    size_t nallocators;
    struct waiting_block {
        uintptr_t addr;
        uint64_t size;
        uint32_t row;
    } waiting[ATTRIBUTION_WAITING]; /* blocks whose heads have been asked of memory */
    uint32_t nwaiting;              /* that have ever been */
    uint32_t taken;                 /* of these */
    uint32_t rounded, alone; /* parts: what blocks are rounded up by, and what is left of pages of
                                large ones, which glibc maps each for itself */
    uint64_t rounded_up[PAGE_KINDS];
    uint64_t kernel_bytes;   /* the kernel's own sum, read behind everything else */
    uint64_t bytes, swapped; /* of all that is tallied */
    uint64_t blocks, asked, usable, slack;
    int error; /* an errno */
};

/* Room for it; to be called before others stand, and again for each time. False: no memory. */
bool attribution_begin(struct attribution *a);

/* Looks. False: a->error says why not. */
bool attribution_make(struct attribution *a);

/* Gives the rows' memory back. */
void attribution_end(struct attribution *a);

#endif
