/*
 * toptree.h: a tree's largest frames as text, callees below callers.
 */
#ifndef FLAME_RENDER_TOP_TOPTREE_H
#define FLAME_RENDER_TOP_TOPTREE_H

#include "render/frametree.h"
#include "render/text/outstream.h"

struct toptree_look {
    size_t columns; /* of the terminal; 0: names are not cut */
    size_t width;   /* of a count */
    bool color, exact;
    const char *unit;
};

/*
 * Writes the `rows` (0: all) frames with the largest totals, which always have their
 * callers among them, siblings by falling total. The only shown callee of a frame is
 * not indented further than the frame, so that deep stacks stay on the screen; beyond
 * some hundred columns of indentation no callee is.
 */
void toptree_write(struct outstream *out, const struct frametree *t, size_t rows,
                   const struct toptree_look *look);

#endif
