/*
 * collapse_stacks_impl.h: what a struct collapse_stacks is made of, for
 * collapse_stacks.c, which fills it, and collapse_order.c, which sorts it.
 */
#ifndef FLAME_FOLD_COLLAPSE_STACKS_IMPL_H
#define FLAME_FOLD_COLLAPSE_STACKS_IMPL_H

#include "fold/collapse_stacks.h"
#include "fold/hashslots.h"

enum { COLLAPSE_SLACK = 16 };

struct name {
    size_t at; /* in the arena */
    uint32_t len;
};

struct stack {
    size_t at; /* in the pool of ids */
    uint32_t n;
    struct collapse_count count;
};

struct collapse_stacks {
    uint64_t seed;
    struct strbuf arena; /* with COLLAPSE_SLACK bytes of room behind it */
    struct name *names;
    size_t nnames, names_alloc;
    struct hashslots by_name;
    uint32_t *pool;
    size_t pool_len, pool_alloc;
    struct stack *stacks;
    size_t nstacks, stacks_alloc;
    struct hashslots by_ids;
    /* Only when a line had two columns. */
    struct collapse_count *second;
    size_t second_alloc;
    unsigned char *columns; /* bit 0, bit 1: which columns a stack has */
    bool strip;
    struct strbuf stripped;
    /* After sorting. */
    bool sorted;
    uint32_t *ranks; /* two a name, of the first `ranked` names */
    size_t ranked;
    uint32_t *order;
};

#endif
