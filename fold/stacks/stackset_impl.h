/*
 * stackset_impl.h: the parts of a struct stackset, for stackset.c, which fills it, and
 * stackset_order.c, which sorts it.
 */
#ifndef FLAME_FOLD_STACKS_STACKSET_IMPL_H
#define FLAME_FOLD_STACKS_STACKSET_IMPL_H

#include "fold/stacks/stackset.h"
#include "fold/stacks/hashslots.h"

/* Bytes that may be read behind a name: names are copied so many at a time. */
enum { NAME_SLACK = 16 };

struct name {
    size_t at; /* in the arena */
    uint32_t len;
};

struct stack {
    size_t at; /* in the pool of ids */
    uint32_t n;
    struct stackset_count count;
};

struct stackset {
    uint64_t seed;
    struct strbuf arena; /* with NAME_SLACK bytes of room behind it */
    struct name *names;
    size_t nnames, names_alloc;
    struct hashslots by_name;
    uint32_t *pool;
    size_t pool_len, pool_alloc;
    struct stack *stacks;
    size_t nstacks, stacks_alloc;
    struct hashslots by_ids;
    /* Filled once a line has two counts. */
    struct stackset_count *second;
    size_t second_alloc, columns_alloc;
    unsigned char *columns; /* bit 0, bit 1: which columns a stack has */
    bool strip;
    struct strbuf stripped;
    /* Filled by sorting. */
    bool sorted;
    uint32_t *ranks; /* two for each of the first `ranked` names (stackset_order.c) */
    size_t ranked;
    uint32_t *order;
};

#endif
