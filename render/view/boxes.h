/*
 * boxes.h: the places of a tree's frames in the columns of a screen.
 *
 * Frames whose edges fall on the same column are left out with all below them. So no row has
 * more boxes than the screen has columns, however large the tree is, and the walk goes only to
 * the requested rows.
 */
#ifndef FLAME_RENDER_VIEW_BOXES_H
#define FLAME_RENDER_VIEW_BOXES_H

#include "render/view/sumtree.h"

struct box {
    uint32_t node, row; /* the root is in row 0 */
    int x, width;       /* in columns, at least one */
};

struct boxes {
    struct box *at; /* owned */
    size_t n, room;
};

/*
 * Places rows [first, first + rows) in `columns` columns; all of them are `zoom`'s, whose callers
 * are as wide. *b is filled anew, in pre-order.
 */
void boxes_make(struct boxes *b, const struct sumtree *s, uint32_t zoom, int columns,
                uint32_t first, uint32_t rows);
void boxes_release(struct boxes *b);

/* The box of that node, or NULL. */
const struct box *boxes_of(const struct boxes *b, uint32_t node);

#endif
