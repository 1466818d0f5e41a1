/*
 * nonheap_parts.h: resident memory that belongs to no stack, by kind (enum trace_memory_part), name
 * and size.
 *
 * One thread at a time changes the tallies. Any thread may ask for numbers, except while another
 * holds the list. The guard is held at GUARD_RECORDING. No malloc.
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

/* Makes room for the list. False: there is no memory. */
bool nonheap_parts_begin(void);

/* Sets all tallies to zero; the parts stay. */
void nonheap_parts_clear(void);

/* Until nonheap_parts_let_go only the calling thread adds parts. To be called before other threads
 * are stopped. */
void nonheap_parts_hold(void);
void nonheap_parts_let_go(void);

/* The number of a part, which is made if there is none. If there are very many, the last ones have
 * no names of their own. The name is truncated to the room. */
uint32_t nonheap_parts_number(enum trace_memory_part part, const char *name);

/* In a forked child. */
void nonheap_parts_after_fork(void);

/* Number of parts. */
uint32_t nonheap_parts_count(void);
struct nonheap_part *nonheap_parts_at(uint32_t number);

#endif
