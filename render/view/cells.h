/*
 * cells.h: a screen of character cells in memory, which the viewer draws into.
 *
 * Its consumer (screen.h, a test) copies cells and knows nothing of names. No cell ever holds a
 * control character, or one that changes how its neighbours are shown: text goes through
 * termtext.h. A character of two columns takes two cells, the second of which is empty and
 * CELL_CONTINUED; one that would reach over an edge is not put. Combining characters are in the
 * cell of the character they belong to, as many as there is room for.
 *
 * Widths are wcwidth's, so the locale's LC_CTYPE counts: with `ascii` nothing but ASCII is put.
 * Memory runs out as in common/alloc.h. Not thread-safe for one screen.
 */
#ifndef FLAME_RENDER_VIEW_CELLS_H
#define FLAME_RENDER_VIEW_CELLS_H

#include <stdbool.h>

#include "common/strbuf.h"
#include "render/palette.h"

enum cell_attribute {
    CELL_BOLD = 1,
    CELL_REVERSE = 2,
    CELL_UNDERLINE = 4,
};

/* The look of text. Without colours only the attributes show it. */
struct cell_look {
    uint8_t attributes;
    bool filled; /* `fill` is the background, and the text is dark on it, or light */
    struct rgb fill;
};

#define CELL_CONTINUED UINT32_MAX
#define CELL_MARKS 3

struct cell {
    uint32_t cp;                /* ' ' where nothing was put */
    uint32_t marks[CELL_MARKS]; /* combining characters; 0: no more */
    struct cell_look look;
};

struct cells {
    int width, height;
    bool ascii;
    struct cell *at; /* row by row; owned */
};

/* Both at least 1 and at most 4096: what is more is cut. All cells are empty afterwards. */
void cells_resize(struct cells *c, int width, int height);
void cells_clear(struct cells *c);
void cells_release(struct cells *c);

static inline struct cell *cells_at(const struct cells *c, int y, int x)
{
    return &c->at[(size_t)y * (size_t)c->width + (size_t)x];
}

/* Fills [x, x + width) of a row; a part outside of the screen is not drawn. */
void cells_fill(struct cells *c, int y, int x, int width, struct cell_look look);

/*
 * Puts text into [x, x + width) of a row, the last column of it "…" (or '~') if it does not fit.
 * Returns how many columns it took. x may not be negative; nothing outside of the screen is put.
 */
int cells_put(struct cells *c, int y, int x, int width, const char *s, size_t len,
              struct cell_look look);
int cells_put_text(struct cells *c, int y, int x, int width, const char *s, struct cell_look look);

/* The number of bytes of s[0..len) that fill at most `width` columns; at least one if there are
 * any. */
size_t cells_fit(const struct cells *c, const char *s, size_t len, int width);
/* The number of columns that all of it takes. */
size_t cells_columns(const struct cells *c, const char *s, size_t len);

#endif
