/*
 * locations.h: the places that the frames of a walk over a tree are at, numbered from 1,
 * where inlined functions (marked _[i]) are at the place of the function they are in.
 *
 * Feed every node of a pre-order walk to locations_step. Borrows the tree.
 */
#ifndef FLAME_RENDER_EXPORT_LOCATIONS_H
#define FLAME_RENDER_EXPORT_LOCATIONS_H

#include "render/frametree.h"

struct location {
    uint32_t name;
    uint32_t outer; /* location of the function this one is inlined into; 0: a function itself */
};

struct locations {
    const struct frametree *t;
    struct location *l; /* l[id - 1] */
    uint32_t n;
    size_t cap;
    uint32_t *slots; /* id by hash */
    uint32_t mask;
    struct location_step {
        uint32_t at, base; /* the location, and the depth of the function itself */
    } * path;              /* by depth */
    size_t path_cap;
    uint64_t *stack;
    size_t stack_cap;
};

void locations_init(struct locations *loc, const struct frametree *t);
void locations_release(struct locations *loc);

/* The walk has come to a frame; depth 0 is the root, which is at no place. */
void locations_step(struct locations *loc, uint32_t name, uint32_t depth);
/* The places of the last frame, leaf first; lent until the next call. */
uint64_t *locations_stack(struct locations *loc, uint32_t depth, size_t *n);

static inline uint32_t locations_name(const struct locations *loc, uint32_t id)
{
    return loc->l[id - 1].name;
}

static inline uint32_t locations_outer(const struct locations *loc, uint32_t id)
{
    return loc->l[id - 1].outer;
}

#endif
