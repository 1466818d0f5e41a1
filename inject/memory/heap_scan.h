/*
 * heap_scan.h: which words of a stopped process lead to which blocks, in one pass over its memory
 * in order of address.
 *
 * A word leads to the block that it points into, at its beginning or inside. Words in a block are
 * the block's edges, all others are roots. A word is any 8 bytes at a multiple of 8. The memory may
 * hold anything. Memory of the caller's: 4 bytes an edge and a block, 16 bytes a root. Not
 * thread-safe.
 */
#ifndef FLAME_INJECT_MEMORY_HEAP_SCAN_H
#define FLAME_INJECT_MEMORY_HEAP_SCAN_H

#include "inject/memory/agent_blocks.h"
#include "inject/memory/remote_pages.h"

/* Set in a target: the word points to the inside of the block. */
#define HEAP_SCAN_INSIDE 0x80000000u

/* Which words that lie in no block are roots. */
enum heap_scan_roots {
    HEAP_SCAN_ALL,
    HEAP_SCAN_EXACT, /* those that point to beginnings: lists of free memory lead to the last bytes
                        of the blocks before it */
    HEAP_SCAN_BLOCKS_ONLY,
};

struct heap_scan_root {
    uintptr_t at; /* address of the word, or a number of the caller's */
    uint32_t target;
};

struct heap_scan {
    const struct agent_blocks *blocks;
    struct remote_pages pages;
    uint32_t *edges_at; /* of each block, and one more: where its edges begin */
    uint32_t *edges;    /* numbers of blocks, HEAP_SCAN_INSIDE. None leads to its own block */
    size_t nedges, edges_room;
    struct heap_scan_root *roots;
    size_t nroots, roots_room;
    uint64_t scanned; /* bytes */
    bool full;        /* there were 2^32 edges or more; the rest is missing */
    /* Words that wait to be looked up. */
    struct heap_scan_word {
        uintptr_t word, at;
        uint32_t source;
    } waiting[64];
    size_t nwaiting;
    uint32_t begun;             /* edges_at is known up to this block */
    enum heap_scan_roots taken; /* as roots now */
};

/* Borrows both until heap_scan_release. */
void heap_scan_begin(struct heap_scan *s, const struct agent_blocks *b, const struct procmem *m);

/* Scans the words of [lo, hi), which must lie behind all that were scanned before. */
void heap_scan_range(struct heap_scan *s, uintptr_t lo, uintptr_t hi, enum heap_scan_roots roots);

/* Adds words that lie in no memory as roots, all with the number `at`. */
void heap_scan_words(struct heap_scan *s, const uintptr_t *words, size_t n, uintptr_t at);

/* To be called after the last range, when the process may run again. */
void heap_scan_end(struct heap_scan *s);
void heap_scan_release(struct heap_scan *s);

#endif
