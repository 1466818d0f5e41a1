/*
 * rendercolumns.h: names of an input's columns in pictures and tables.
 */
#ifndef FLAME_RENDER_RENDERCOLUMNS_H
#define FLAME_RENDER_RENDERCOLUMNS_H

#include "render/backend.h"
#include "render/input.h"

/*
 * One entry for each column of `in`, in order, for the caller to free. Names are borrowed from the
 * input or constant. `countname` is the unit of an only column, and of columns without one.
 */
struct render_column *rendercolumns_of(const struct input *in, const char *countname);

#endif
