/*
 * viewkeys.h: what keys and the mouse do to the viewer's model.
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
    VIEW_KEY_NONE, /* any that is not known */
};

void viewmodel_key(struct viewmodel *m, uint32_t key);

/* The first button was pressed there. On what is chosen already it is as Enter. */
void viewmodel_click(struct viewmodel *m, int y, int x);

/*
 * What is chosen comes to lie on the screen: the window follows it, and the picture is zoomed where
 * it would be narrower than a column. To be called before drawing, after whatever changed.
 */
void viewmodel_settle(struct viewmodel *m);

/* Where row 0 of the graph's pane is, in lines of the body, and which rows of it are shown. */
struct view_window {
    int line, step;       /* of row `first`, and to the next row: 1 or -1 */
    uint32_t first, rows; /* rows may be 0 */
};
struct view_window viewmodel_window(const struct viewmodel *m, const struct view_pane *pane);

/* What the keys do, line by line, a line without a key being a heading; NULL at the end. */
struct view_help {
    const char *key, *what;
    bool live; /* of `flame live` alone */
};
extern const struct view_help view_help_lines[];

#endif
