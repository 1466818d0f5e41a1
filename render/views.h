/*
 * views.h: names of views in pictures and tables, by the "# flame: view=..." line of folded
 * text.
 */
#ifndef FLAME_RENDER_VIEWS_H
#define FLAME_RENDER_VIEWS_H

#include <stdbool.h>

#include "common/compiler.h"

struct view_look {
    const char *view;
    const char *title;
    const char *unit; /* when the text has none */
    const char *palette;
    const char *then; /* the title in front of "at 12.5 s" or "from 2 s to 12.5 s"; NULL: the
                         view has no moments */
    bool level;       /* an amount that exists at a moment: several moments have a mean, no sum */
};

/* The look of view `name`, or NULL when it is unknown. */
const struct view_look *view_look(const char *name);

#endif
