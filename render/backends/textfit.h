/*
 * textfit.h: the part of a name that fits a frame, by widths of the font's characters, as the
 * font itself is not available here. The page's script measures it and fits anew. Pure,
 * thread-safe.
 */
#ifndef FLAME_RENDER_BACKENDS_TEXTFIT_H
#define FLAME_RENDER_BACKENDS_TEXTFIT_H

#include "common/compiler.h"

/*
 * The number of bytes of name[0..len) that fit into `width` pixels at `fontsize`: the whole
 * length when all of it fits; else the length of the beginning that leaves room for ".." behind
 * it; 0 when that would be under three characters. Every character takes `fontwidth` font sizes,
 * or if that is 0, the usual width in `fonttype`.
 */
size_t textfit(const char *name, size_t len, double width, double fontsize, const char *fonttype,
               double fontwidth);

/* The width of a whole text in pixels, by the same widths of characters. */
double textfit_width(const char *text, size_t len, double fontsize, const char *fonttype,
                     double fontwidth);

#endif
