/*
 * idmap.h: one number for each id, 0 until it is set. Grows with the greatest id.
 */
#ifndef FLAME_FOLD_IDMAP_H
#define FLAME_FOLD_IDMAP_H

#include "common/strbuf.h"

struct idmap {
    uint32_t *of; /* free() it */
    size_t n;
};

/* Where the number of `id` is kept; lent until the next call. */
static inline uint32_t *idmap_at(struct idmap *m, uint32_t id)
{
    if (id >= m->n) {
        size_t more = ((size_t)id + 1) * 2;

        m->of = xreallocarray(m->of, more, sizeof *m->of);
        memset(m->of + m->n, 0, (more - m->n) * sizeof *m->of);
        m->n = more;
    }
    return &m->of[id];
}

#endif
