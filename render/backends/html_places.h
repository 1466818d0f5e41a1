/*
 * html_places.h: the places of a page's names, as JSON: the groups of its table and of its
 * colours.
 */
#ifndef FLAME_RENDER_BACKENDS_HTML_PLACES_H
#define FLAME_RENDER_BACKENDS_HTML_PLACES_H

#include "render/backend.h"
#include "render/text/outstream.h"

/*
 * Appends "places":[...], with a comma behind it: {kind, told, depth, names, of} for each kind
 * of places that some frames are in. names[0] is the group without a known place; `of` are
 * packed numbers (varint_base64.h) by name of the page, a place plus one or 0, see frameplaces.h;
 * `order` has the tree's names in the page's order.
 */
void html_places_add(struct outstream *out, const struct frametree *t,
                     const struct render_options *o, const uint32_t *order);

#endif
