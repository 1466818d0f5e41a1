/*
 * rowclasses.h: which rows of the trace count the classes of a stack's blocks, by the row that
 * counts the blocks themselves.
 *
 * A class has its row when a first block falls into it. All of them are the thread's whose row it
 * is, so only that thread asks, or one that looks while it alone does. Memory: 256 bytes a row, in
 * pages that are touched as rows come. No malloc.
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

/* What is known of row `id`; NULL: there is no memory. */
struct row_classes *rowclasses_of(struct rowclasses *c, uint32_t id);

/* The row *at, which is made if it is 0: for the class with this number (lifeclass_number) of the
 * stack `node`, of the thread that `thread` is the id of. NULL: there is no room. */
struct trace_row *rowclasses_row(struct thread_state *t, uint32_t *at, uint32_t node,
                                 uint16_t thread, uint32_t number, uint16_t flags);

/* In a forked child, to whose trace the rows do not belong, before it gives the parent's up. */
void rowclasses_forget(struct rowclasses *c);

#endif
