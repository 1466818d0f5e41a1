/*
 * rowclasses.h: rows of the trace that count the classes of a stack's blocks, by the row that
 * counts the blocks themselves.
 *
 * A class gets its row when a first block falls into it. All of them belong to the thread whose row
 * it is. So only that thread uses them, or one that scans while no other thread runs. Memory: 256
 * bytes a row, in pages that are touched as rows come. No malloc.
 */
#ifndef FLAME_PRELOAD_LIFETIMES_ROWCLASSES_H
#define FLAME_PRELOAD_LIFETIMES_ROWCLASSES_H

#include "common/trace/lifeclass.h"
#include "preload/threads.h"

#define ROWCLASSES_LIVES (LIFECLASS_LIVES + 1)

/* Rows by class, of one row; 0: none yet. */
struct row_classes {
    uint32_t sizes[LIFECLASS_SIZES];
    uint32_t lives[ROWCLASSES_LIVES];
};

struct rowclasses { /* all zero: none */
    struct row_classes *chunks[STORE_SEGMENTS];
};

/* The rows of the classes of row `id`; NULL: there is no memory. */
struct row_classes *rowclasses_of(struct rowclasses *c, uint32_t id);

/* The row *at, which is made if it is 0: for the class with this number (lifeclass_number) of
 * the stack `node`, of the thread with the id `thread`. NULL: there is no room. */
struct trace_row *rowclasses_row(struct thread_state *t, uint32_t *at, uint32_t node,
                                 uint16_t thread, uint32_t number, uint16_t flags);

/* In a forked child, whose trace does not have the rows, before it gives up the parent's. */
void rowclasses_forget(struct rowclasses *c);

#endif
