/*
 * gzipout.h: bytes on their way to a stream as a gzip file (RFC 1952), without a name
 * or a time in it, so that the same input gives the same bytes. Memory is constant.
 *
 *   lifecycle  gzipout_init, gzipout_add any number of times, gzipout_end (always)
 */
#ifndef FLAME_RENDER_EXPORT_GZIPOUT_H
#define FLAME_RENDER_EXPORT_GZIPOUT_H

#include <stddef.h>
#include <stdio.h>
#include <zlib.h>

struct gzipout {
    FILE *out;
    z_stream z;
    int err; /* -errno once something failed; what comes after is thrown away */
};

void gzipout_init(struct gzipout *g, FILE *out);
void gzipout_add(struct gzipout *g, const void *data, size_t len);
/* Writes the rest and frees. 0, or -errno of the first failure. */
int gzipout_end(struct gzipout *g);

#endif
