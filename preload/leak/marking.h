/*
 * marking.h: finds the blocks that can be reached from words that are given as roots.
 *
 * A word reaches the block whose beginning it points to, and all that the words in that block
 * reach. When all roots have been given, marking_inner follows the blocks that only pointers to
 * their insides lead to. A word is any 8 bytes at a multiple of 8.
 *
 * Memory: 8 bytes for each of the `listed` blocks of marking_begin, however many blocks there are.
 *
 * One at a time, by one thread; see blockmap.h. No malloc.
 */
#ifndef FLAME_PRELOAD_LEAK_MARKING_H
#define FLAME_PRELOAD_LEAK_MARKING_H

#include "preload/leak/blockmap.h"
#include "preload/leak/readable.h"

enum marking_words {
    MARKING_ANY,   /* pointers into blocks count, too, in the end */
    MARKING_EXACT, /* only those to their beginnings: in the C library's data, whose pointers to
                    * free memory lead into the last bytes of the block before it */
};

/* Blocks that get a place in the list; a scan's cost hardly depends on their number. */
#define MARKING_LISTED(blocks) (65536 + (blocks) / 16)

/*
 * `m` and `r` are borrowed until marking_end. `listed`: at least one; so many blocks that are
 * reached and not followed yet have a place in a list, and others are searched for in the map.
 * `tagged`: the three lowest bits of a word and those above addresses are ignored. False: no
 * memory.
 */
bool marking_begin(struct blockmap *m, const struct readable *r, size_t listed, bool tagged);
void marking_end(void);

/* The readable words of [lo, hi) are roots. Pages that were never written to are not scanned. */
void marking_root(uintptr_t lo, uintptr_t hi, enum marking_words words);

/* The block that begins at `block` counts as reached. */
void marking_root_block(uintptr_t block);

/* Follows the pointers from the roots that have been given so far. */
void marking_follow(void);

/* To be called when all roots have been given and followed. Blocks that are reached by their
 * insides only, and those that they reach, get their bits in `inner`. The other bits of `inner`
 * are cleared. */
void marking_inner(void);

/*
 * Calls `visit` for each leaked block, which is each block that has not been reached. `by_leak`:
 * another leak leads to it (in a circle, to all but one). False: no memory.
 */
bool marking_leaks(void (*visit)(uintptr_t block, bool by_leak, void *arg), void *arg);

#endif
