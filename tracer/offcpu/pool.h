/*
 * pool.h: a free list for small records of one size that are allocated and freed for each sleep.
 *
 * A freed record is reused first. malloc and free take some 20 ns each once more records of one
 * size are free than glibc caches for a thread (7), which is a tenth of the state machine's time
 * for a sleep. The pool never shrinks; the state machine has no more records in it than its threads
 * need. Under ASan it is malloc and free, so that uses after free are found.
 *
 * Not thread-safe. Allocates (common/alloc.h); free records are reachable from the pool.
 */
#ifndef FLAME_TRACER_OFFCPU_POOL_H
#define FLAME_TRACER_OFFCPU_POOL_H

#include <stdlib.h>

#include "common/alloc.h"

struct pool {
    size_t size; /* size of a record; at least a pointer's */
    void *first; /* free records; each begins with a pointer to the next */
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

/* Allocates a record with undefined contents. Free it with pool_give. */
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
