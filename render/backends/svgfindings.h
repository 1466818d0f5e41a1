/*
 * svgfindings.h: sentences above a picture's frames, each a link that zooms to its stack.
 *
 * The links are addresses as the picture's own script makes them (svg_address.js), so that they
 * need no script of theirs, are reached by the keyboard, and can be sent. Not thread-safe for
 * one of them.
 */
#ifndef FLAME_RENDER_BACKENDS_SVGFINDINGS_H
#define FLAME_RENDER_BACKENDS_SVGFINDINGS_H

#include "render/findings/findings.h"
#include "render/layout.h"

#define SVG_FINDINGS 3 /* shown, at most */

/* Height of the sentences, in pixels. */
double svgfindings_height(const struct findings *f, const struct render_options *o);

/* Appends the sentences, the first line's top at `y`, from `x` on and at most `room` pixels
 * wide. `l` is the layout of the frames, to which the links lead. */
void svgfindings_add(struct strbuf *sb, const struct findings *f, const struct frametree *t,
                     const struct render_options *o, const struct layout *l, double x, double y,
                     double room);

#endif
