/*
 * hashslots.h: hash tables of numbers. The items lie with the caller, in an array;
 * a table knows only their indices, from 0 to 2^32 - 2.
 *
 * Open addressing, at most half full. A slot holds the hash in its upper 32 bits and the index
 * plus one in its lower; 0 is an empty slot. So the table grows without looking at an item, and
 * a look-up looks at few items that are not the one it is for. Nothing is ever taken out. Not
 * thread-safe.
 *
 *     for (i = hashslots_first(&h, hash); hashslots_at(&h, i, &index); i = hashslots_next(&h, i))
 *         if (hashslots_may_be(&h, i, hash) && items[index] is meant)
 *             return index;
 *     hashslots_add(&h, hash, n++);
 */
#ifndef FLAME_FOLD_STACKS_HASHSLOTS_H
#define FLAME_FOLD_STACKS_HASHSLOTS_H

#include <stdbool.h>
#include <stdlib.h>

#include "common/alloc.h"

struct hashslots {
    uint64_t *slots;
    size_t mask, used;
};

/* `n` slots at first, a power of two. */
static inline void hashslots_init(struct hashslots *h, size_t n)
{
    *h = (struct hashslots){xcalloc(n, sizeof *h->slots), n - 1, 0};
}

static inline void hashslots_release(struct hashslots *h)
{
    free(h->slots);
    h->slots = NULL;
}

static inline size_t hashslots_first(const struct hashslots *h, uint32_t hash)
{
    return hash & h->mask;
}

static inline size_t hashslots_next(const struct hashslots *h, size_t i)
{
    return (i + 1) & h->mask;
}

/* The index in slot i; false: the slot is empty, and the item is not in the table. */
static inline bool hashslots_at(const struct hashslots *h, size_t i, uint32_t *index)
{
    *index = (uint32_t)h->slots[i] - 1;
    return h->slots[i] != 0;
}

static inline bool hashslots_may_be(const struct hashslots *h, size_t i, uint32_t hash)
{
    return h->slots[i] >> 32 == hash;
}

static inline void hashslots_put(struct hashslots *h, uint64_t slot)
{
    size_t i = (slot >> 32) & h->mask;

    while (h->slots[i])
        i = (i + 1) & h->mask;
    h->slots[i] = slot;
}

static inline void hashslots_add(struct hashslots *h, uint32_t hash, uint32_t index)
{
    if (++h->used > h->mask / 2) {
        uint64_t *old = h->slots;
        size_t n = h->mask + 1;

        h->mask = n * 2 - 1;
        h->slots = xcalloc(n * 2, sizeof *h->slots);
        for (size_t i = 0; i < n; i++)
            if (old[i])
                hashslots_put(h, old[i]);
        free(old);
    }
    hashslots_put(h, (uint64_t)hash << 32 | (index + 1));
}

#endif
