/*
 * locations.h: the locations of the frames of a walk over a tree, numbered from 1, where inlined
 * functions (marked _[i]) are at the location of the function that they are in.
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

/* Takes the next frame of the walk; depth 0 is the root, which has no location. */
void locations_step(struct locations *loc, uint32_t name, uint32_t depth);
/* The locations of the last frame's stack, leaf first; borrowed until the next call. */
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
