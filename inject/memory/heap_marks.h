/*
 * heap_marks.h: which blocks of a process can be reached, by a scan of its memory. The rules are
 * those of the recorder's own search (preload/leak/marking.h).
 *
 * A root reaches the block whose beginning it points to, and all that the words in that block
 * reach. Then the blocks that only pointers to their insides lead to are followed. Not thread-safe.
 */
#ifndef FLAME_INJECT_MEMORY_HEAP_MARKS_H
#define FLAME_INJECT_MEMORY_HEAP_MARKS_H

#include "inject/memory/heap_scan.h"

enum heap_mark {
    HEAP_UNREACHED = 0,
    HEAP_INSIDE, /* only pointers to its inside lead to it, or to a block that leads to it */
    HEAP_REACHED,
    HEAP_LEAK,   /* it is not reached, but another leak leads to it */
    HEAP_LEADER, /* it is not reached, and no other leak leads to it; of some circles, one block */
};

/* Marks of the blocks, none of which is HEAP_UNREACHED. The caller frees them. */
uint8_t *heap_marks_find(const struct heap_scan *s);

#endif
