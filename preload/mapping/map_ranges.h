/*
 * map_ranges.h: list of the memory that the program has mapped, in pieces, with the caller, and
 * whether the program's pointers may lie there.
 *
 * Mappings that the C library makes for itself (heaps, threads' stacks) are listed only on request
 * (libc_mmap_patch.h).
 *
 * Any thread may add and take; map_ranges_each is for a thread that visits all pieces, between
 * map_ranges_hold and map_ranges_let_go. Adding or removing a piece changes its row, so the guard
 * is held at GUARD_RECORDING. No malloc.
 */
#ifndef FLAME_PRELOAD_MAPPING_MAP_RANGES_H
#define FLAME_PRELOAD_MAPPING_MAP_RANGES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/compiler.h"

struct mapping {
    uintptr_t caller;  /* address in the code that made the call */
    uint32_t row;      /* row of TRACE_ROW_MAPPED that counts it; 0: none */
    uint16_t kind;     /* enum trace_mapping */
    bool words;        /* the program's pointers may lie there */
    bool grows;        /* MAP_GROWSDOWN: it may extend below the requested address */
    uintptr_t segment; /* of System V: the address by which shmdt(2) names it; otherwise 0 */
};

/* A part of the memory that one call mapped. Addresses need not be whole pages: sbrk has bytes. */
struct map_ranges_piece {
    uintptr_t lo, hi;
    struct mapping mapping;
    uint64_t call; /* number of the call; all pieces of a call have the same number */
    bool cut;      /* the call has, or had, another piece */
    bool last;     /* for taken pieces: it was the last piece of its call */
};

/* Adds [lo, lo + size) as mapped by the program, in place of earlier pieces there. The list has
 * room for MAPPED_MAX pieces. Returns the number of the call; 0: there was no room. */
uint64_t map_ranges_add(uintptr_t lo, size_t size, const struct mapping *m);

/* Counts the remaining pieces of that call in [lo, hi), which were counted in no row, in `row`. */
void map_ranges_settle(uintptr_t lo, uintptr_t hi, uint64_t call, uint32_t row);

/* The mapping that an mmap with these arguments makes, without its caller and row. */
struct mapping map_ranges_as(int prot, int flags);

/* The mapping of the page at `at`, with row 0; anonymous memory if it is not known. */
struct mapping map_ranges_at(uintptr_t at);

/* The mapping of the page at `at`, with its row. False: no known mapping lies there. */
bool map_ranges_find(uintptr_t at, struct mapping *m);

/* Pieces that were removed, in case the call that unmaps them fails. */
#define MAPPED_TAKEN_MAX 8
struct map_ranges_taken {
    struct map_ranges_piece pieces[MAPPED_TAKEN_MAX];
    size_t n; /* number of pieces; if there are more than MAPPED_TAKEN_MAX, only the first are
                 stored */
};

/* Removes [lo, lo + size) from the list. To be called before the memory is unmapped, because
 * another thread may get the addresses afterwards. `taken` may be NULL. */
void map_ranges_take(uintptr_t lo, size_t size, struct map_ranges_taken *taken);
/* Like map_ranges_take, for all remaining pieces of the segment that shmdt(2) names by this
 * address. */
void map_ranges_take_segment(uintptr_t segment, struct map_ranges_taken *taken);
void map_ranges_put_back(const struct map_ranges_taken *taken);

#define MAPPED_MAX 65536u

/*
 * Locks the list until map_ranges_let_go: a thread that changes it waits. To be called before other
 * threads are stopped, because a thread that is stopped in the middle of a change leaves the list
 * inconsistent. False: the list is not locked and must not be unlocked, because a signal handler
 * has jumped out of a change. Mappings that other threads make from then on are lost.
 */
bool map_ranges_hold(void);
void map_ranges_let_go(void);

/* Calls `visit` for each piece in the order of addresses. */
void map_ranges_each(void (*visit)(const struct map_ranges_piece *p, void *arg), void *arg);

/* Whether some pieces found no room. Their memory is not scanned, and blocks that only its pointers
 * lead to would pass for leaks. Once true, it stays true. */
bool map_ranges_incomplete(void);

/* To be called in a forked child. A lock that another thread held is released, and the list is
 * incomplete if that thread was changing it. Only the parent counts mappings from before the
 * fork. */
void map_ranges_after_fork(void);

#endif
