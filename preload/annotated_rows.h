/*
 * annotated_rows.h: rows that count something of a stack apart from its blocks. Each belongs to a
 * node of its own above the stack, whose kind says what the row counts.
 *
 * Any thread may call these functions, but two must not ask for the same stack and number at once:
 * a thread's stacks are its own. The guard is held at GUARD_RECORDING. No malloc.
 */
#ifndef FLAME_PRELOAD_ANNOTATED_ROWS_H
#define FLAME_PRELOAD_ANNOTATED_ROWS_H

#include "common/spinlock.h"
#include "preload/runtime/pairs.h"
#include "preload/threads.h"

struct annotated_rows { /* all zero: no rows */
    struct spinlock lock;
    struct pairs rows; /* row ids by number and node */
    uint32_t kind;     /* enum trace_node_kind of the nodes, whose addr is the number */
    uint16_t flags;    /* of the rows */
};

#define ABOVE_ROWS(node_kind, row_flags)                                                           \
    {                                                                                              \
        .kind = (node_kind), .flags = (row_flags)                                                  \
    }

/* Id of the row for `number` above the stack `node`, made if there is none. `thread`: id, in the
 * trace, of the thread that the row counts for. `t`: the calling thread. 0: there is no room for
 * the row. */
uint32_t annotated_row(struct annotated_rows *a, struct thread_state *t, uint32_t node,
                       uint16_t thread, uint32_t number);

/* In a forked child, to whose trace the rows do not belong. */
void annotated_rows_forget(struct annotated_rows *a);

#endif
