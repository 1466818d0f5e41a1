/*
 * mapped.h: the memory that the program has mapped, piece by piece: who mapped it, and whether
 * its pointers may lie there.
 *
 * What the C library maps inside itself (heaps, threads' stacks) is seen on request alone
 * (within.h).
 *
 * Any thread may add and take; mapped_each is for one that looks at all pieces, between
 * mapped_hold and mapped_let_go. What a piece comes to is counted in its row as it comes and
 * goes, so the guard is held at GUARD_RECORDING. No malloc.
 */
#ifndef FLAME_PRELOAD_MAPPING_MAPPED_H
#define FLAME_PRELOAD_MAPPING_MAPPED_H

#include <stdbool.h>
#include <stddef.h>

#include "common/compiler.h"

struct mapping {
    uintptr_t caller;  /* code that the call came from */
    uint32_t row;      /* of TRACE_ROW_MAPPED, where it is counted; 0: nowhere */
    uint16_t kind;     /* enum trace_mapping */
    bool words;        /* words of the program's may be there */
    bool grows;        /* MAP_GROWSDOWN: it may have more below what was asked for */
    uintptr_t segment; /* of System V: where shmdt(2) would name it; else 0 */
};

/* A part of one that was mapped by one call. Addresses need not be whole pages: sbrk has bytes. */
struct mapped_piece {
    uintptr_t lo, hi;
    struct mapping mapping;
    uint64_t call; /* the number of the call; pieces of one have the same */
    bool cut;      /* there is or was another one of the call */
    bool last;     /* of what was taken: it was the last one of the call */
};

/* From now on [lo, lo + size) is the program's, whatever it was; no more than MAPPED_MAX
 * pieces are kept. The number of the call; 0: it is not kept. */
uint64_t mapped_add(uintptr_t lo, size_t size, const struct mapping *m);

/* What is left in [lo, hi) of that call, which was counted in no row, is counted in `row` now. */
void mapped_settle(uintptr_t lo, uintptr_t hi, uint64_t call, uint32_t row);

/* What an mmap with these arguments makes, but for who makes it. */
struct mapping mapped_as(int prot, int flags);

/* What the page at `at` was mapped as; anonymous memory where that is not known. */
struct mapping mapped_at(uintptr_t at);

/* The same with its row. False: nothing of what is known lies there. */
bool mapped_find(uintptr_t at, struct mapping *m);

/* What was taken, for the case that the call that was to end it fails. */
#define MAPPED_TAKEN_MAX 8
struct mapped_taken {
    struct mapped_piece pieces[MAPPED_TAKEN_MAX];
    size_t n; /* all there were; of more than MAPPED_TAKEN_MAX only the first are kept */
};

/* From now on it is not the program's any more. To be called before the memory goes, as
 * another thread may have the addresses afterwards. `taken` may be NULL. */
void mapped_take(uintptr_t lo, size_t size, struct mapped_taken *taken);
/* The same of all that is left of what shmdt(2) names so. */
void mapped_take_segment(uintptr_t segment, struct mapped_taken *taken);
void mapped_put_back(const struct mapped_taken *taken);

#define MAPPED_MAX 65536u

/* `size` as the kernel has it: whole pages. */
size_t mapped_pages(size_t size);

/*
 * Until mapped_let_go no thread changes the list: one that wants to waits. To be called before
 * other threads are made to stand, as one that stands in the middle of a change leaves half of
 * it. False: it is not held and not to be let go, as a signal handler has jumped out of a change;
 * what others map meanwhile and from then on is lost.
 */
bool mapped_hold(void);
void mapped_let_go(void);

/* Calls `visit` for each piece in the order of addresses. */
void mapped_each(void (*visit)(const struct mapped_piece *p, void *arg), void *arg);

/* Whether some pieces could not be kept: pointers that lie there are not seen, and what only
 * they lead to would pass for a leak. From then on, always. */
bool mapped_incomplete(void);

/* In a forked child: a lock that another thread held is free again, and what it was changing
 * is incomplete. What was mapped before is counted by the parent alone. */
void mapped_after_fork(void);

#endif
