/*
 * colormap.h: the colours names had in earlier pictures (--cp), kept in a file of
 * lines "name->rgb(r,g,b)", as flamegraph.pl's palette.map.
 *
 * Ownership: the map copies names. Not thread-safe. Memory runs out as in strbuf.h.
 */
#ifndef FLAME_RENDER_COLORMAP_H
#define FLAME_RENDER_COLORMAP_H

#include <stdbool.h>

#include "common/files/outfile.h"
#include "render/palette.h"

struct colormap;

struct colormap *colormap_new(void);
void colormap_free(struct colormap *m);

/*
 * Reads a file of colours. A file that is not there is an empty map; lines that are
 * not understood are left out. 0 or -errno.
 */
int colormap_read(struct colormap *m, const char *path);

/* Writes all colours, sorted by name, and ends the file: whole or not at all. 0 or -errno. */
int colormap_write(struct colormap *m, struct outfile *out);

/* The colour of a name; `otherwise` when it has none, which it then has from now on. */
struct rgb colormap_color(struct colormap *m, const char *name, size_t len, struct rgb otherwise);

#endif
