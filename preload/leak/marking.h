/*
 * marking.h: which blocks can be reached, from words that are given as roots.
 *
 * A word reaches the block that it points to the beginning of, and what the words in that
 * block reach. When all roots have been given, marking_inner goes on with those blocks
 * that only pointers to their insides lead to. A word is whatever lies at a multiple of 8.
 *
 * Memory: 8 bytes for each of so many blocks as marking_begin is told, however many there are.
 *
 * One at a time, by one thread; see blockmap.h. No malloc.
 */
#ifndef FLAME_PRELOAD_LEAK_MARKING_H
#define FLAME_PRELOAD_LEAK_MARKING_H

#include "preload/leak/blockmap.h"
#include "preload/leak/readable.h"

enum marking_words {
    MARKING_ANY,   /* pointers into blocks count, too, in the end */
    MARKING_EXACT, /* only those to their beginnings: in the C library's data, whose pointers
                      to free memory lead into the last bytes of the block before it */
};

/* What there is a list for, which a look's cost hardly depends on. */
#define MARKING_LISTED(blocks) (65536 + (blocks) / 16)

/*
 * Both are borrowed until marking_end. `listed`: so many blocks, one at least, that are reached
 * and not followed yet have a place in a list; others are looked for. `tagged`: the three lowest
 * bits of a word and those above addresses mean nothing. False: no memory.
 */
bool marking_begin(struct blockmap *m, const struct readable *r, size_t listed, bool tagged);
void marking_end(void);

/* The words of [lo, hi) are roots, as far as they can be read. Pages that were never written to
 * are not looked at. */
void marking_root(uintptr_t lo, uintptr_t hi, enum marking_words words);

/* The block that begins at `block` counts as reached. */
void marking_root_block(uintptr_t block);

/* Follows what the roots so far lead to. */
void marking_follow(void);

/* All roots have been given and followed: blocks that are reached by their insides only,
 * and what they reach, get their bits in `inner`. The other bits of `inner` are cleared. */
void marking_inner(void);

/*
 * What is left is leaked. Calls `visit` for each of those blocks; `by_leak` tells whether
 * another of them leads to it (of a circle, all but one are led to). False: no memory.
 */
bool marking_leaks(void (*visit)(uintptr_t block, bool by_leak, void *arg), void *arg);

#endif
