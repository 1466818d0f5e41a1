/*
 * truncate.h: a stack that is deeper than the limit loses its middle.
 *
 * Its outer half of the limit is kept, and as many of the innermost frames as leave a
 * multiple of a quarter of the limit out: between three quarters of the limit and all of
 * it is left. Multiples, because stacks that grow deeper then have the frames that are
 * kept in common: were the innermost N kept, each depth would have N nodes of its own in
 * the trace (100,000 calls at 100,000 depths: 800 MB).
 *
 * One for each thread, touched by that thread alone; no malloc.
 */
#ifndef FLAME_PRELOAD_TRUNCATE_H
#define FLAME_PRELOAD_TRUNCATE_H

#include <stdbool.h>

#include "common/compiler.h"

/* A pc that is no address: it stands for frames left out in the middle of a deep stack. */
#define STACK_TRUNCATED ((uint64_t)1)

/* A pc with this bit, which no address has, is a name: the rest is the file offset of the trace's
 * TRACE_META_STRING. */
#define STACK_NAME ((uint64_t)1 << 63)

struct truncation {
    uintptr_t *pcs; /* room for a stack that is cut; NULL before the first */
    uint32_t limit;
    uint32_t dropped; /* of the stack before; 0: it was whole */
};

/* A stack as stacks_intern takes it. */
struct truncated_stack {
    const uintptr_t *pcs;
    uint32_t n;       /* at most the limit and one more */
    uint32_t same;    /* so many outer frames are those of the stack before */
    uint32_t dropped; /* frames left out */
};

/* How many of `limit` frames are the outer ones. */
static inline uint32_t truncate_outer(uint32_t limit)
{
    return limit - limit / 2;
}

/*
 * Cuts pcs[0..n), outermost first, of which the first `same` are those of the stack
 * before. out->pcs is valid until the next call. False: no memory.
 */
bool truncate_deep(struct truncation *c, const uintptr_t *pcs, uint32_t n, uint32_t same,
                   struct truncated_stack *out);

static inline bool truncate_stack(struct truncation *c, const uintptr_t *pcs, uint32_t n,
                                  uint32_t same, struct truncated_stack *out)
{
    if (unlikely(n > c->limit || c->dropped))
        return truncate_deep(c, pcs, n, same, out);
    *out = (struct truncated_stack){pcs, n, same, 0};
    return true;
}

void truncate_release(struct truncation *c);

#endif
