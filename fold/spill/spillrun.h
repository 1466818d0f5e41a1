/*
 * spillrun.h: the file of a run (spill.h): stacks with their counts, sorted by stack, each once.
 *
 * A record is a struct spillrun_head, the bytes of the stack's text that the one before does not
 * begin with, and the counts that the head names: a uint64_t each, whole before part. The order
 * of bytes is the machine's: no other reads it. Only the same process writes it, so an
 * impossible record is returned as -EIO, like an error of the disk.
 *
 * Functions that can fail return 0 or -errno. Not thread-safe.
 */
#ifndef FLAME_FOLD_SPILL_SPILLRUN_H
#define FLAME_FOLD_SPILL_SPILLRUN_H

#include <stdio.h>

#include "fold/stacks/stackset.h"

struct spillrun_head {
    uint32_t shared, rest; /* bytes of the text before, and new ones behind them */
    uint32_t has;          /* bits below */
};

enum {
    SPILLRUN_FRAMES = 1, /* of no frame at all is another stack than one empty name */
    SPILLRUN_FIRST = 2,  /* columns */
    SPILLRUN_SECOND = 4,
    SPILLRUN_PARTS = 8, /* the counts have parts */
};

struct spillrun_stack {
    struct strbuf text;
    bool frames;
    bool has_first, has_second;
    struct stackset_count first, second;
};

#define SPILLRUN_STACK_INIT                                                                        \
    {                                                                                              \
        .text = STRBUF_INIT                                                                        \
    }

/* A new file in `dir`, without a name. */
int spillrun_create(const char *dir, FILE **out);
/* `before` is the text of the stack before, and becomes that of this one. */
int spillrun_put(FILE *f, struct strbuf *before, const struct spillrun_stack *s);
/* The next stack in *s, which holds the one before. 1, 0 at the end, or -errno. */
int spillrun_get(FILE *f, struct spillrun_stack *s);

/* Which of two stacks comes first. */
int spillrun_compare(const struct spillrun_stack *a, const struct spillrun_stack *b);

/*
 * Merges runs, and calls `put` for each of their stacks, in order and with the counts of all
 * runs. `put` may swap the stack's text for the empty one. Stops when it does not return 0.
 */
int spillrun_merge(FILE *const *runs, size_t n, int (*put)(void *to, struct spillrun_stack *s),
                   void *to);

#endif
