/*
 * cairolib.h: the functions of cairo that draw a picture, found when one is wanted.
 *
 * Linking with libcairo would load it and some twenty libraries behind it (X11,
 * fontconfig...) into every run of flame; so it is opened by name, and only its
 * headers are needed to build. Not thread-safe.
 */
#ifndef FLAME_RENDER_BACKENDS_CAIROLIB_H
#define FLAME_RENDER_BACKENDS_CAIROLIB_H

#include <cairo/cairo.h>

#define CAIROLIB_FUNCTIONS(X)                                                                      \
    X(cairo_clip)                                                                                  \
    X(cairo_create)                                                                                \
    X(cairo_debug_reset_static_data)                                                               \
    X(cairo_destroy)                                                                               \
    X(cairo_fill)                                                                                  \
    X(cairo_image_surface_create)                                                                  \
    X(cairo_move_to)                                                                               \
    X(cairo_paint)                                                                                 \
    X(cairo_pattern_add_color_stop_rgb)                                                            \
    X(cairo_pattern_create_linear)                                                                 \
    X(cairo_pattern_destroy)                                                                       \
    X(cairo_rectangle)                                                                             \
    X(cairo_restore)                                                                               \
    X(cairo_save)                                                                                  \
    X(cairo_scale)                                                                                 \
    X(cairo_select_font_face)                                                                      \
    X(cairo_set_font_size)                                                                         \
    X(cairo_set_source)                                                                            \
    X(cairo_set_source_rgb)                                                                        \
    X(cairo_show_text)                                                                             \
    X(cairo_status)                                                                                \
    X(cairo_surface_destroy)                                                                       \
    X(cairo_surface_write_to_png_stream)                                                           \
    X(cairo_text_extents)

struct cairolib {
#define FIELD(name) __typeof__(&(name)) name;
    CAIROLIB_FUNCTIONS(FIELD)
#undef FIELD
};

/* NULL where the library is not there; otherwise for the rest of the run. */
const struct cairolib *cairolib_open(void);

/* Frees the memory that the library and fontconfig below it keep. No object of cairo may be
 * left. */
void cairolib_clear(const struct cairolib *lib);

#endif
