/*
 * pairmap.h: a map from two words to one, for tables with a look-up for every frame of every stack.
 *
 * Open addressing, linear probing, at most half full, without removal. All zero is an empty map;
 * pairmap_release frees it. Running out of memory ends the process as xmalloc does. Not
 * thread-safe.
 */
#ifndef FLAME_TRACER_OUTPUT_PAIRMAP_H
#define FLAME_TRACER_OUTPUT_PAIRMAP_H

#include "common/hash.h"
#include "common/alloc.h"
#include "common/compiler.h"

struct pairmap_entry {
    uint64_t a, b;
    uint64_t value; /* 0: the slot is free */
};

struct pairmap {
    struct pairmap_entry *slots;
    size_t mask; /* slots - 1 */
    size_t used;
};

void pairmap_release(struct pairmap *m);

/* The multiplier is 2^64 / the golden ratio; both words reach the upper half. */
FLAME_INLINE uint64_t pairmap_hash(uint64_t a, uint64_t b)
{
    uint64_t h = (a ^ (b * HASH_GOLDEN)) * HASH_GOLDEN;

    return h ^ h >> 32;
}

/* The value of (a, b); 0 when there is none. */
FLAME_INLINE uint64_t pairmap_get(const struct pairmap *m, uint64_t a, uint64_t b)
{
    if (unlikely(!m->slots))
        return 0;
    for (size_t at = pairmap_hash(a, b) & m->mask;; at = (at + 1) & m->mask) {
        const struct pairmap_entry *e = &m->slots[at];

        if (likely(e->a == a && e->b == b) || !e->value)
            return e->value;
    }
}

/* Sets the value of (a, b); `value` is not 0. */
void pairmap_put(struct pairmap *m, uint64_t a, uint64_t b, uint64_t value);

#endif
