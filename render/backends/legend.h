/*
 * legend.h: the key of a picture: its total, and the meaning of its colours. Back ends that draw
 * frames draw these keys, too, so that a picture that was passed on alone can still be read.
 *
 * A key is a text, or colours with a text before or behind them: one colour is a kind of frame,
 * several are a scale. Not thread-safe; texts may hold any bytes of the unit's name.
 */
#ifndef FLAME_RENDER_BACKENDS_LEGEND_H
#define FLAME_RENDER_BACKENDS_LEGEND_H

#include "render/backends/framecolor.h"
#include "render/layout.h"

#define LEGEND_KEYS 12
#define LEGEND_COLORS 9 /* of a scale: odd, so that one stands for no change */

struct legend_key {
    char *before, *after; /* owned; "" where there is none */
    struct rgb colors[LEGEND_COLORS];
    unsigned ncolors;
    unsigned line;     /* 0: the first one */
    double x;          /* in pixels from the left edge of the drawing */
    double color_x;    /* x of the first colour */
    double after_x;    /* x of the text behind the colours */
    double color_size; /* width of a colour, and height of all */
};

struct legend {
    struct legend_key keys[LEGEND_KEYS];
    size_t n;
    unsigned lines; /* 0: no legend is drawn */
    double line_height;
};

/*
 * Makes the keys of the frames that `l` shows and places them on lines `width` pixels wide.
 * framecolor_see must have seen these frames.
 */
void legend_make(struct legend *legend, struct framecolor *f, const struct layout *l, double width);
void legend_release(struct legend *legend);

/* Height of all lines, in pixels. */
double legend_height(const struct legend *legend);

#endif
