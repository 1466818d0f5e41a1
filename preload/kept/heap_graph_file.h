/*
 * heap_graph_file.h: bytes of the file in which the recorder stores what leads to which block, for
 * `flame mem --kept`: at the end of a process, beside its trace, with HEAP_GRAPH_ENDING behind the
 * trace's name. The driver reads it, finds who keeps the blocks, and removes it.
 *
 * HEAP_GRAPH_MAGIC, then numbers in LEB128 (DWARF 5, 7.6): 7 bits a byte, the low ones first, bit 7
 * in all but the last. "signed" numbers are zigzag: 0, -1, 1, -2 are 0, 1, 2, 3.
 *
 *   threads   their number; of each: id, length of its name, the name's bytes as numbers, stack
 *             pointer, address of the C library's control block, number of frames; of each frame,
 *             innermost first: stack pointer, and address of its code << 1 | 1 where that is no
 *             return address
 *   blocks    their number; of each, by address: (address - that of the one before) >> 3, size, row
 *             of the trace; row 0: a process that forked this one has allocated it
 *   ranges    of each: 1 + enum heap_graph_kind, number, its first address >> 3; of each of its
 *             words that leads to a block: 1 + (address - that of the word before) >> 3, target; 0
 *             ends the words; 0 ends the ranges. Addresses of a range begin at its first one
 *   edges     of each block that leads to others: 1 + number - that of the one before; number of
 *             targets; targets; 0 ends them
 *   the end   HEAP_GRAPH_END
 *
 * A target is the number of a block, as a signed difference from the target before it, << 1 | 1
 * where the pointer is to the block's inside. The target before is 0 at the beginning of a range
 * and the number of the block itself at the beginning of its edges.
 */
#ifndef FLAME_PRELOAD_KEPT_HEAP_GRAPH_FILE_H
#define FLAME_PRELOAD_KEPT_HEAP_GRAPH_FILE_H

#include "common/compiler.h"

#define HEAP_GRAPH_MAGIC "FLAMEHG1"
#define HEAP_GRAPH_MAGIC_SIZE 8
#define HEAP_GRAPH_ENDING ".kept"
#define HEAP_GRAPH_PART ".part" /* behind that, while it is written */
#define HEAP_GRAPH_END 0x656e64u

/* Which words are roots, and what the number of their range is. */
enum heap_graph_kind {
    HEAP_GRAPH_MODULE,    /* a module's writable data */
    HEAP_GRAPH_MALLOC,    /* of the allocator's module: words of blocks that it handed out since */
    HEAP_GRAPH_START,     /* memory from before the program began: the loader's, with the first
                           * thread's thread-local data */
    HEAP_GRAPH_MAPPED,    /* memory that the program mapped; the row of the trace that counts it */
    HEAP_GRAPH_SHARED,    /* shared memory with a name */
    HEAP_GRAPH_STACK,     /* a thread's stack with its thread-local data; number of the thread */
    HEAP_GRAPH_REGISTERS, /* of a thread; its number. Addresses mean nothing */
    HEAP_GRAPH_RESULT,    /* result of a thread that has ended and was not joined */
    HEAP_GRAPH_LOADER,    /* blocks of the loader's. Addresses mean nothing */
    HEAP_GRAPH_PAUSED,    /* blocks that the program excluded from the recording */
    HEAP_GRAPH_BELOW,     /* memory that the program mapped, below a stack that a thread runs on */
    HEAP_GRAPH_KINDS,
};

#define HEAP_GRAPH_NAME_MOST 16u

static inline uint64_t heap_graph_zigzag(int64_t v)
{
    return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

static inline int64_t heap_graph_unzigzag(uint64_t v)
{
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

#endif
