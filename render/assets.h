/*
 * assets.h: the pages' own script and style, as bytes inside the program.
 * NUL-terminated; the lengths do not count the NUL.
 */
#ifndef FLAME_RENDER_ASSETS_H
#define FLAME_RENDER_ASSETS_H

#include "common/compiler.h"

extern const char asset_svg_js[], asset_svg_css[];
size_t asset_svg_js_len(void);
size_t asset_svg_css_len(void);

#endif
