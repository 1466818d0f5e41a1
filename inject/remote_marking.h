/*
 * remote_marking.h: finds the blocks of a stopped process that can be reached from words of its
 * memory. The rules are those of the recorder's own scan (preload/leak/marking.h).
 *
 * A word reaches the block whose beginning it points to, and all that the words in that block
 * reach. After the last root, remote_marking_follow follows the blocks that only pointers to their
 * insides lead to. A word is any 8 bytes at a multiple of 8.
 *
 * Pages that are not there are not read, so none appears by the scan. The process's memory may hold
 * anything. Memory of the caller's: at most 512 MiB of copies, and 5 bytes a block. Not
 * thread-safe.
 */
#ifndef FLAME_INJECT_REMOTE_MARKING_H
#define FLAME_INJECT_REMOTE_MARKING_H

#include "inject/agent_blocks.h"
#include "inject/remote_pages.h"

enum remote_mark {
    REMOTE_UNREACHED = 0,
    REMOTE_LEAK,   /* of remote_marking_leaks: it is not reached */
    REMOTE_INSIDE, /* only pointers to its inside lead to it, or to a block that leads to it */
    REMOTE_REACHED,
};

struct remote_marking {
    const struct agent_blocks *blocks;
    struct remote_pages pages;
    uint8_t *mark;  /* of each block, enum remote_mark */
    uint32_t *list; /* blocks to be followed */
    size_t listed;
    struct remote_window *windows; /* copies of memory, by a hash of their addresses */
    size_t nwindows;
    uintptr_t batch[64]; /* words that wait to be looked up */
    size_t waiting;
    uint8_t reach; /* the mark of what is reached now */
    bool exact;    /* pointers to insides do not count now */
    bool *leader;  /* of remote_marking_leaks: leaks to which no other leak leads */
    uint32_t leading;
    uint64_t scanned; /* bytes */
};

/* Borrows both until remote_marking_end. */
void remote_marking_begin(struct remote_marking *k, const struct agent_blocks *b,
                          const struct procmem *m);
void remote_marking_end(struct remote_marking *k);

/* Makes words roots. `exact`: only pointers to beginnings count, as the C library's data leads to
 * free memory by the last bytes of the block before it. */
void remote_marking_words(struct remote_marking *k, const uintptr_t *words, size_t n, bool exact);
/* Makes the words of [lo, hi) roots that lie in no known block. */
void remote_marking_range(struct remote_marking *k, uintptr_t lo, uintptr_t hi, bool exact);

/* Follows the pointers from the roots, first to beginnings, then to insides. To be called once,
 * after all roots have been added. */
void remote_marking_follow(struct remote_marking *k);

/* Makes the unreached blocks leaks. The leaders are those to which no other leak leads, and of some
 * circles one of the blocks. All other leaks can be reached from leaders. */
void remote_marking_leaks(struct remote_marking *k);

#endif
