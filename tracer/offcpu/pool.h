/*
 * pool.h: memory for small things of one size that come and go with each sleep.
 *
 * What is given back is kept, and given out next: malloc and free take some 20 ns each once more of
 * one size are given back than glibc keeps for a thread (7), which is a tenth of what the state
 * machine takes for a sleep. It never shrinks; the state machine keeps no more than its threads
 * need. Where addresses are checked (ASan) it is malloc and free, so that what is used too late is
 * found.
 *
 * Not thread-safe. Allocates (common/alloc.h); what is kept is reachable from the pool.
 */
#ifndef FLAME_TRACER_OFFCPU_POOL_H
#define FLAME_TRACER_OFFCPU_POOL_H

#include <stdlib.h>

#include "common/alloc.h"

struct pool {
    size_t size; /* of one thing; at least a pointer's */
    void *first; /* of those that nobody has; each begins with a pointer to the next */
};

#if defined(__SANITIZE_ADDRESS__)
#define POOL_KEEPS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POOL_KEEPS 0
#endif
#endif
#ifndef POOL_KEEPS
#define POOL_KEEPS 1
#endif

/* Its bytes are whatever they were. To be given back with pool_give. */
static inline void *pool_take(struct pool *p)
{
    void *it = p->first;

    if (unlikely(!it))
        return xmalloc(p->size);
    memcpy(&p->first, it, sizeof p->first);
    return it;
}

static inline void pool_give(struct pool *p, void *it)
{
    if (!POOL_KEEPS) {
        free(it);
        return;
    }
    memcpy(it, &p->first, sizeof p->first);
    p->first = it;
}

#endif
