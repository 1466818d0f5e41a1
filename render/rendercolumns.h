/*
 * rendercolumns.h: what an input's columns are called where they are drawn.
 */
#ifndef FLAME_RENDER_RENDERCOLUMNS_H
#define FLAME_RENDER_RENDERCOLUMNS_H

#include "render/backend.h"
#include "render/input.h"

/*
 * One for each column of `in`, in order; to be freed with free(). Names are borrowed from the input
 * or constant, and so is `countname`, the unit of the only column, and of those that say none.
 */
struct render_column *rendercolumns_of(const struct input *in, const char *countname);

#endif
