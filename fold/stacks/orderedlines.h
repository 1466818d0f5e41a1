/*
 * orderedlines.h: folded lines written in the order of whole lines.
 *
 * Stacks come sorted by stack; orderedlines.c describes where that differs from LC_ALL=C sort,
 * and the remedy. Lines go to a stream in pieces of 64 KiB; errors are left in the stream.
 * Memory: one piece, and the lines that are held back. Not thread-safe.
 */
#ifndef FLAME_FOLD_STACKS_ORDEREDLINES_H
#define FLAME_FOLD_STACKS_ORDEREDLINES_H

#include <stdio.h>

#include "fold/stacks/stackset.h"

struct orderedlines {
    FILE *f;                /* borrowed */
    bool two;               /* lines have two counts */
    struct strbuf out;      /* not yet written */
    struct strbuf line;     /* the last one */
    struct strbuf *waiting; /* lines that are held back, sorted, the least at the end */
    size_t nwaiting, alloc;
};

void orderedlines_init(struct orderedlines *o, FILE *f, bool two);
/*
 * One more stack. `wait` must be true if its text begins the next one's, followed by a blank or
 * less; it may be true of others. `second` is not read where lines have one count.
 */
void orderedlines_add(struct orderedlines *o, const struct strbuf *text,
                      const struct stackset_count *first, const struct stackset_count *second,
                      bool wait);
/* Writes what is left and releases everything. */
void orderedlines_finish(struct orderedlines *o);

#endif
