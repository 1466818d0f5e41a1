/*
 * assets.h: the pages' own script and style, as bytes inside the program.
 * NUL-terminated; the lengths do not count the NUL.
 */
#ifndef FLAME_RENDER_BACKENDS_ASSETS_H
#define FLAME_RENDER_BACKENDS_ASSETS_H

#include "common/compiler.h"

extern const char asset_svg_js[], asset_svg_css[], asset_svg_dark_css[];
extern const char asset_page_html[], asset_page_css[], asset_page_js[];
size_t asset_svg_js_len(void);
size_t asset_svg_css_len(void);
size_t asset_svg_dark_css_len(void);
size_t asset_page_html_len(void);
size_t asset_page_css_len(void);
/* All of the page_*.js, each behind those that it uses. */
size_t asset_page_js_len(void);

#endif
