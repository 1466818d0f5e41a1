/*
 * nonheap_parts.h: resident memory that is no stack's: what it is, by enum trace_memory_part and a
 * name, and how much there is.
 *
 * Tallies are for one thread; numbers for any, but while one holds them. The guard is held at
 * GUARD_RECORDING. No malloc.
 */
#ifndef FLAME_PRELOAD_RESIDENT_NONHEAP_PARTS_H
#define FLAME_PRELOAD_RESIDENT_NONHEAP_PARTS_H

#include <stdbool.h>

#include "common/trace_format.h"
#include "preload/resident/pageindex.h"

#define PARTS_NAME_MAX 64u

struct nonheap_part {
    enum trace_memory_part part;
    char name[PARTS_NAME_MAX]; /* NUL-terminated; "": none */
    struct page_tally tally;
    uint64_t idle; /* TRACE_PART_ALLOCATOR: in pages with no block at all */
};

/* Room for them. False: there is no memory. */
bool nonheap_parts_begin(void);

/* Sets all to nothing; the parts stay. */
void nonheap_parts_clear(void);

/* Until nonheap_parts_let_go only the calling thread makes any. To be called before other threads
 * are made to stand. */
void nonheap_parts_hold(void);
void nonheap_parts_let_go(void);

/* The number of a part, which is made where there is none. Of very many the last have no name of
 * their own. The name is cut to what fits. */
uint32_t nonheap_parts_number(enum trace_memory_part part, const char *name);

/* In a forked child. */
void nonheap_parts_after_fork(void);

/* As many as there are. */
uint32_t nonheap_parts_count(void);
struct nonheap_part *nonheap_parts_at(uint32_t number);

#endif
