/*
 * rowclasses.h: rows of the trace that count the classes of a stack's blocks, by the row that
 * counts the blocks themselves.
 *
 * A class gets its row when a first block falls into it. All these rows belong to the thread of the
 * row that counts the blocks. So only that thread uses them, or a thread that scans while no other
 * runs. Memory: 256 bytes a row, in pages that are touched as rows are made. No malloc.
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

struct rowclasses { /* all zero: empty */
    struct row_classes *chunks[STORE_SEGMENTS];
};

/* The rows of the classes of row `id`; NULL: there is no memory. */
struct row_classes *rowclasses_of(struct rowclasses *c, uint32_t id);

/* The row with the id *at, which is made if *at is 0. It is for the class with this number
 * (lifeclass_number), the stack `node`, and the thread with the id `thread`. NULL: there is no
 * room. */
struct trace_row *rowclasses_row(struct thread_state *t, uint32_t *at, uint32_t node,
                                 uint16_t thread, uint32_t number, uint16_t flags);

/* To be called in a forked child, whose trace does not have the rows, before it gives up the
 * parent's. */
void rowclasses_forget(struct rowclasses *c);

#endif
