/*
 * filter_lines.h: filters on folded lines in the order in which they come, for
 * pictures that keep it and texts too large to be added up first.
 *
 * Lines are handed on at once, unless --trim-root has to see them all before.
 * Memory: the different names, and with --trim-root the stacks. Not thread-safe.
 */
#ifndef FLAME_FOLD_STACKS_FILTER_LINES_H
#define FLAME_FOLD_STACKS_FILTER_LINES_H

#include "common/folded.h"
#include "fold/stacks/filter.h"

struct filter_lines;

/* Takes a line that is kept, as the filter left it, and its tag. 0, or the value that
 * filter_lines_add has to return. */
typedef int (*filter_sink)(void *opaque, const struct folded_line *line, unsigned tag);

/* The filter is borrowed. */
struct filter_lines *filter_lines_new(struct filter *f, filter_sink sink, void *opaque);
void filter_lines_free(struct filter_lines *fl);

/* False in *kept: the line is left out. Returns the result of the sink. */
int filter_lines_add(struct filter_lines *fl, const struct folded_line *line, unsigned tag,
                     bool *kept);
/* Call it after the last line. */
int filter_lines_end(struct filter_lines *fl);

#endif
