/*
 * framecolor.h: the colour of each frame of a picture, from its options: palette,
 * differences, colours of earlier pictures, and the distance along a chain of wakers.
 *
 * Borrows tree and options, which must outlive it. Not thread-safe.
 */
#ifndef FLAME_RENDER_FRAMECOLOR_H
#define FLAME_RENDER_FRAMECOLOR_H

#include "render/backend.h"

struct framecolor {
    const struct frametree *t;
    const struct render_options *o;
    uint32_t *by_name;    /* 0, or 1 << 24 and the colour once it is known */
    uint8_t *hops;        /* by node: how many "--" lie below it; NULL without any */
    double largest_delta; /* of the frames that are drawn; set before the first colour */
};

void framecolor_init(struct framecolor *f, const struct frametree *t,
                     const struct render_options *o);
void framecolor_release(struct framecolor *f);
struct rgb framecolor_of(struct framecolor *f, uint32_t node);

#endif
