/*
 * topplaces.h: a tree's counts by module, file, line, thread or process (frameplaces.h) instead
 * of by symbol.
 */
#ifndef FLAME_RENDER_TOP_TOPPLACES_H
#define FLAME_RENDER_TOP_TOPPLACES_H

#include "render/frameplaces.h"
#include "render/top/toplist.h"

/*
 * Like toplist_make, with a row for each place that has counts, its number in `name`: self is
 * the sum of the place's own frames and their wrappers, total that of all stacks with a frame of
 * it. Ties of names go by their bytes.
 */
struct top_row *topplaces_make(const struct frameplaces *p, const bool *wrappers,
                               enum top_sort sort, size_t *n);

#endif
