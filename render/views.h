/*
 * views.h: what a view of a trace is called in pictures and tables, from the
 * "# flame: view=..." line of folded text.
 */
#ifndef FLAME_RENDER_VIEWS_H
#define FLAME_RENDER_VIEWS_H

#include <stdbool.h>

#include "common/compiler.h"

struct view_look {
    const char *view;
    const char *title;
    const char *unit; /* when the text does not say */
    const char *palette;
    const char *then; /* the title in front of "at 12.5 s" or "from 2 s to 12.5 s"; NULL: there is
                         no such thing */
    bool level;       /* what there is at a moment: of several moments there is a mean, no sum */
};

/* The look of view `name`, or NULL when it is none we know. */
const struct view_look *view_look(const char *name);

#endif
