/*
 * layout.h: positions of the tree's frames in a picture.
 *
 * Frames come out in pre-order (a frame, then all above it), siblings by name
 * from left to right, each as wide as its share of the total. Frames narrower
 * than the limit are left out with everything above them.
 */
#ifndef FLAME_RENDER_LAYOUT_H
#define FLAME_RENDER_LAYOUT_H

#include "render/frametree.h"

struct layout_frame {
    uint32_t node;
    uint32_t depth;            /* 0: the root */
    struct folded_count start; /* sum of all that lies left of it */
    double x, width;           /* in pixels, x from the left edge of the drawing */
};

struct layout {
    struct layout_frame *frames; /* owned */
    size_t n;
    uint32_t depth; /* of the deepest frame that is drawn */
};

/*
 * Lays out a finished tree over `width` pixels (> 0), leaving out frames under
 * `minwidth` pixels (0: only those of no width). The root is never left out.
 */
void layout_make(struct layout *l, const struct frametree *t, double width, double minwidth);
void layout_release(struct layout *l);

#endif
