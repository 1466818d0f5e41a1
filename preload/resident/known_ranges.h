/*
 * known_ranges.h: ranges of memory that neither blocks nor the program's own calls reveal: files of
 * the program and its libraries, threads' stacks, heaps of glibc's arenas.
 *
 * For one thread, while the others are stopped; known_ranges_list_modules is called before that. No
 * malloc.
 */
#ifndef FLAME_PRELOAD_RESIDENT_KNOWN_RANGES_H
#define FLAME_PRELOAD_RESIDENT_KNOWN_RANGES_H

#include "common/processor/page_size.h"
#include "preload/resident/pageindex.h"
#include "preload/resident/smaps.h"

struct known_range {
    uintptr_t lo, hi;
    uint32_t part; /* number of the part */
    bool text;     /* of a module: executable */
};

struct known_ranges {
    struct known_range *modules, *stacks, *heaps; /* stacks and heaps are sorted by address */
    size_t nmodules, nstacks, nheaps;
    uintptr_t arenas[256]; /* arenas of the heaps, in the order in which they were found */
    size_t narenas;
    bool glibc; /* malloc is the C library's own */
};

/* Makes room for the lists. False: there is no memory. */
bool known_ranges_begin(struct known_ranges *l);

/* Lists the loader's modules. It takes the loader's lock, so it must be called before other threads
 * are stopped. */
void known_ranges_list_modules(struct known_ranges *l);

/* Forgets stacks and heaps. */
void known_ranges_clear(struct known_ranges *l);

/* Searches this mapping, whose pages are the last of the index, for the stack of a thread at its
 * end, or of one of the stopped threads. */
struct stopped_world;
void known_ranges_find_stack(struct known_ranges *l, const struct smap *m, struct pageindex *x,
                             const struct stopped_world *f);

/* Searches the mapping for heaps of glibc's arenas. */
void known_ranges_find_heaps(struct known_ranges *l, const struct smap *m, struct pageindex *x);

/* Usable bytes of a block of glibc's. `asked`: the block's requested size, which is the result if
 * its head cannot be read or is not plausible. */
uint64_t known_ranges_usable(struct pageindex *x, uintptr_t block, uint64_t asked);

/* Like known_ranges_usable, for a head that is known to be resident. glibc aligns blocks to 16
 * bytes. */
static inline uint64_t known_ranges_usable_near(uintptr_t block, uint64_t asked)
{
    uint64_t head = *(const uint64_t *)(block - 8), mapped = head & 2;
    uint64_t size = (head & ~(uint64_t)7) - (mapped ? 16 : 8);

    return size >= asked && size - asked <= (mapped ? 3 * page_size() : 64) ? size : asked;
}

#endif
