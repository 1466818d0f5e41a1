/*
 * palette.h: the colour of a frame.
 *
 * A colour depends on nothing but the palette and the frame's name, so the same input gives the
 * same picture. Pure functions, thread-safe.
 */
#ifndef FLAME_RENDER_PALETTE_H
#define FLAME_RENDER_PALETTE_H

#include <stdbool.h>

#include "common/strbuf.h"

struct rgb {
    uint8_t r, g, b;
};

/* The palette called `name`, or -1. */
int palette_find(const char *name);

/* Appends all names, blank-separated. */
void palette_add_names(struct strbuf *sb);

/*
 * The colour of a frame. With `similar` (--hash) names that begin alike get colours that are
 * alike; else each name's shade is its own. An annotation at the end of the name (_[k] _[j] _[i]
 * _[w] _[o]) chooses the hue.
 */
struct rgb palette_color(int palette, const char *name, size_t len, bool similar);

/* Like palette_color, with a shade of its own for each `seed` instead of each name (--random). */
struct rgb palette_color_random(int palette, const char *name, size_t len, uint32_t seed);

/* The colour of a waker's frame: a hue for each distance along the chain (hops >= 1), whatever
 * the annotation. */
struct rgb palette_color_hops(int palette, const char *name, size_t len, unsigned hops);

/*
 * The band of a thread's name across a chain of wakers: dark enough for a white label,
 * and of one hue wherever the thread comes up.
 */
struct rgb palette_thread(const char *name, size_t len);

/*
 * The colour of a difference: orange-red for growth, blue for less, paler the nearer to zero;
 * grey for none, and where `largest` is not above 0. Pages have the same colours (palettedelta.c).
 */
struct rgb palette_delta(double delta, double largest);

/*
 * The meaning of a frame's hue, as "kernel", with a typical colour of it; NULL where the hue is
 * the palette's own and at most tells names apart. The text is static.
 */
const char *palette_kind(int palette, const char *name, size_t len, struct rgb *typical);

/* A typical colour of the palette's own hue, and of a waker's that many hops away (>= 1). */
struct rgb palette_swatch(int palette);
struct rgb palette_hop_swatch(int palette, unsigned hops);

/* Length of the name without its annotation. */
size_t palette_strip_mark(const char *name, size_t len);

#endif
