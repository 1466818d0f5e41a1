/*
 * nodestacks.h: nodes of a trace as stacks of names in an aggregate.
 */
#ifndef FLAME_FOLD_NODESTACKS_H
#define FLAME_FOLD_NODESTACKS_H

#include "fold/symbolize.h"
#include "fold/row_values.h"

struct nodestack_options {
    enum view_shape shape;
    const struct chainsplit *split; /* whose links items have; NULL: they have none */
    bool pid;                       /* the root frame is comm-PID instead of comm */
    bool tid;                       /* a frame for the thread under the root */
    uint32_t *stacks; /* by item, its stack is put here and nothing is counted; or NULL */
};

/* Adds each item's value to its stack in the frames' aggregate. */
void nodestacks_add(const struct trace *t, struct symbolizer *frames,
                    const struct row_values *items, const struct nodestack_options *o);

#endif
