/*
 * htmllanes.h: when threads waited, in the profile of a page (html.c): for page_lanes.js and its
 * like to read.
 */
#ifndef FLAME_RENDER_BACKENDS_HTMLLANES_H
#define FLAME_RENDER_BACKENDS_HTMLLANES_H

#include "render/frametree.h"
#include "render/lanes.h"
#include "render/text/outstream.h"

/* The member "lanes" with a comma behind it; nothing where there are none (NULL, too). */
void htmllanes_add(struct outstream *out, const struct lanes *l);

/* The member "lanes" of the column of this view, with a comma before it: by node of the page, how
 * many nodes further, how many rows, and each row less the one before. Nothing, as above. */
void htmllanes_add_column(struct outstream *out, const struct frametree *t, const struct lanes *l,
                          const char *view);

#endif
