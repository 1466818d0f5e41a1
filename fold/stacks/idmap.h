/*
 * idmap.h: one number for each id, 0 until it is set. The map grows
 * with the greatest id.
 */
#ifndef FLAME_FOLD_STACKS_IDMAP_H
#define FLAME_FOLD_STACKS_IDMAP_H

#include "common/alloc.h"

struct idmap {
    uint32_t *of; /* free() it */
    size_t n;
};

/* The place of the number of `id`; borrowed until the next call. */
static inline uint32_t *idmap_at(struct idmap *m, uint32_t id)
{
    GROW_FILLED(m->of, id, m->n, 0);
    return &m->of[id];
}

#endif
