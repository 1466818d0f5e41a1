/*
 * landmarks.h: which addresses are what, where neither blocks nor the program's own calls tell:
 * the files of the program and its libraries, threads' stacks, the heaps of glibc's arenas.
 *
 * For one thread, while the others stand; but landmarks_list_modules. No malloc.
 */
#ifndef FLAME_PRELOAD_RESIDENT_LANDMARKS_H
#define FLAME_PRELOAD_RESIDENT_LANDMARKS_H

#include "preload/resident/pageindex.h"
#include "preload/resident/smaps.h"

struct landmark {
    uintptr_t lo, hi;
    uint32_t part; /* its number */
    bool text;     /* of a module: it can be executed */
};

struct landmarks {
    struct landmark *modules, *stacks, *heaps; /* the last two in the order of addresses */
    size_t nmodules, nstacks, nheaps;
    uintptr_t arenas[256]; /* of the heaps, in the order they were met */
    size_t narenas;
    bool glibc; /* malloc is the C library's own */
};

/* Room for them. False: there is no memory. */
bool landmarks_begin(struct landmarks *l);

/* Lists the loader's modules, for which the loader's lock is taken: before others stand. */
void landmarks_list_modules(struct landmarks *l);

/* Forgets stacks and heaps. */
void landmarks_clear(struct landmarks *l);

/* Looks whether this mapping, whose pages are the last of the index, has the stack of a thread at
 * its end, or of one of those that stand. */
struct freeze;
void landmarks_find_stack(struct landmarks *l, const struct smap *m, struct pageindex *x,
                          const struct freeze *f);

/* Looks for heaps of glibc's arenas in the mapping. */
void landmarks_find_heaps(struct landmarks *l, const struct smap *m, struct pageindex *x);

/* Of a block of glibc's, how many bytes it has; `asked` where its head cannot be read, or makes
 * no sense. */
uint64_t landmarks_usable(struct pageindex *x, uintptr_t block, uint64_t asked);

/* The same where the head is known to be resident. glibc aligns blocks to 16 bytes. */
static inline uint64_t landmarks_usable_near(uintptr_t block, uint64_t asked)
{
    uint64_t head = *(const uint64_t *)(block - 8), mapped = head & 2;
    uint64_t size = (head & ~(uint64_t)7) - (mapped ? 16 : 8);

    return size >= asked && size - asked <= (mapped ? 3 * PAGEINDEX_PAGE : 64) ? size : asked;
}

#endif
