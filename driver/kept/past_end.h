/*
 * past_end.h: pointers that are one past the end of a block, and so lead to the block behind it by
 * chance: the end of a vector, with allocators that put nothing between blocks (jemalloc,
 * tcmalloc).
 *
 * A word is taken for one if it leads to the beginning of a block that touches the one before, and
 * a word nearby, of the same block or variable, leads to that one. A structure of pointers to two
 * neighbours looks alike. So such a word still counts, like a pointer to the inside.
 */
#ifndef FLAME_DRIVER_KEPT_PAST_END_H
#define FLAME_DRIVER_KEPT_PAST_END_H

#include "driver/kept/keptheap.h"

/* Whether the root word `i` is one. */
bool past_end_root(const struct keptheap *h, size_t i);
/* Whether the edge `e` of the block `block` is one. */
bool past_end_edge(const struct keptheap *h, uint32_t block, uint32_t e);

#endif
