/*
 * marking.h: finds the blocks that can be reached from a set of root words.
 *
 * A word reaches the block whose beginning it points to, and all that the words in that block
 * reach. After the last root, marking_inner follows the blocks that only pointers to their insides
 * lead to. A word is any 8 bytes at a multiple of 8.
 *
 * Memory: 8 bytes for each of the `listed` blocks of marking_begin, however many blocks there are.
 *
 * One marking at a time, by one thread; see blockmap.h. No malloc.
 */
#ifndef FLAME_PRELOAD_LEAK_MARKING_H
#define FLAME_PRELOAD_LEAK_MARKING_H

#include "preload/leak/blockmap.h"
#include "preload/leak/readable.h"

enum marking_words {
    MARKING_ANY,   /* pointers to the inside of blocks count, too, in the end */
    MARKING_EXACT, /* only pointers to beginnings count: the C library's data points to free memory
                      by the last bytes of the block before it */
};

/* Number of blocks that get a place in the list. A scan's cost hardly depends on it. */
#define MARKING_LISTED(blocks) (65536 + (blocks) / 16)

/*
 * Borrows `m` and `r` until marking_end. `listed`: places in the list of blocks that are reached
 * and not followed yet, at least one; further blocks are searched for in the map. `tagged`: the
 * three lowest bits of a word and the bits above addresses are ignored. False: no memory.
 */
bool marking_begin(struct blockmap *m, const struct readable *r, size_t listed, bool tagged);
void marking_end(void);

/* Makes the readable words of [lo, hi) roots. Pages that were never written to are not scanned. */
void marking_root(uintptr_t lo, uintptr_t hi, enum marking_words words);

/* The block that begins at `block` counts as reached. */
void marking_root_block(uintptr_t block);

/* Follows the pointers from the roots that have been added so far. */
void marking_follow(void);

/* To be called after all roots have been added and followed. Blocks that are reached only by their
 * insides, and blocks that those reach, get their bits in `inner`. The other bits of `inner` are
 * cleared. */
void marking_inner(void);

/*
 * Calls `visit` for each leaked block, that is, each block that was not reached. `by_leak`: another
 * leak leads to it (in a circle, to all blocks but one). False: no memory.
 */
bool marking_leaks(void (*visit)(uintptr_t block, bool by_leak, void *arg), void *arg);

#endif
