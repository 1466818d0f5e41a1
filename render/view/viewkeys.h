/*
 * viewkeys.h: actions of keys and the mouse on the viewer's model.
 */
#ifndef FLAME_RENDER_VIEW_VIEWKEYS_H
#define FLAME_RENDER_VIEW_VIEWKEYS_H

#include "render/view/viewmodel.h"

/* A key is a character of Unicode (controls among them: '\r', 27, 127), or one of these. */
enum view_key {
    VIEW_KEY_UP = 0x110000,
    VIEW_KEY_DOWN,
    VIEW_KEY_LEFT,
    VIEW_KEY_RIGHT,
    VIEW_KEY_PAGE_UP,
    VIEW_KEY_PAGE_DOWN,
    VIEW_KEY_HOME,
    VIEW_KEY_END,
    VIEW_KEY_HELP,
    VIEW_KEY_NONE, /* any unknown key */
};

void viewmodel_key(struct viewmodel *m, uint32_t key);

/* A press of the first button at (y, x). On the chosen frame or row it acts like Enter. */
void viewmodel_click(struct viewmodel *m, int y, int x);

/*
 * Brings the chosen frame or row onto the screen: the window follows it, and the picture is
 * zoomed where it would be narrower than a column. Call it before drawing, after any change.
 */
void viewmodel_settle(struct viewmodel *m);

/* The line of row 0 of the graph's pane in the body, and the rows of the pane that are shown. */
struct view_window {
    int line, step;       /* of row `first`, and to the next row: 1 or -1 */
    uint32_t first, rows; /* rows may be 0 */
};
struct view_window viewmodel_window(const struct viewmodel *m, const struct view_pane *pane);

/* Descriptions of the keys, line by line, a line without a key being a heading; NULL at the end. */
struct view_help {
    const char *key, *what;
    bool live; /* in `flame live` only */
};
extern const struct view_help view_help_lines[];

#endif
