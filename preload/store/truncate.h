/*
 * truncate.h: a stack that is deeper than the limit loses its middle.
 *
 * Half of the limit is spent on the outer frames, which all stay. In the middle, a multiple of a
 * quarter of the limit is dropped. So between three quarters of the limit and the whole limit
 * remains. Because of the multiples, stacks that grow deeper share the frames that stay. If the
 * innermost N stayed, each depth would have N nodes of its own in the trace (100,000 calls at
 * 100,000 depths: 800 MB).
 *
 * One truncation for each thread, touched by that thread alone; no malloc.
 */
#ifndef FLAME_PRELOAD_STORE_TRUNCATE_H
#define FLAME_PRELOAD_STORE_TRUNCATE_H

#include <stdbool.h>

#include "common/compiler.h"

/* A pc that is no address: it replaces the frames dropped in the middle of a deep stack. */
#define STACK_TRUNCATED ((uint64_t)1)

/* A pc with this bit, which no address has, is a name: the other bits are the file offset of the
 * trace's TRACE_META_STRING. */
#define STACK_NAME ((uint64_t)1 << 63)

struct truncation {
    uintptr_t *pcs; /* the truncated stack; NULL before the first one */
    uint32_t limit;
    uint32_t dropped; /* frames dropped from the previous stack; 0: it was not truncated */
};

/* A stack in the form that stacks_intern takes. */
struct truncated_stack {
    const uintptr_t *pcs;
    uint32_t n;       /* at most the limit plus one */
    uint32_t same;    /* number of outer frames that are those of the previous stack */
    uint32_t dropped; /* frames dropped */
};

/* Number of outer frames that stay, of `limit` frames in all. */
static inline uint32_t truncate_outer(uint32_t limit)
{
    return limit - limit / 2;
}

/*
 * Truncates pcs[0..n), outermost first, of which the first `same` are those of the previous stack.
 * out->pcs is valid until the next call. False: no memory.
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
