/*
 * rangemap.h: which of many address ranges holds an address.
 *
 * Fill with rangemap_add, call rangemap_finish once, then look up. Ranges may
 * overlap; the one that begins last counts as the innermost.
 */
#ifndef FLAME_FOLD_SYMBOLS_RANGEMAP_H
#define FLAME_FOLD_SYMBOLS_RANGEMAP_H

#include "common/compiler.h"

#define RANGEMAP_NONE UINT32_MAX

struct range {
    uint64_t low, high; /* low <= address < high */
    uint64_t reach;     /* the greatest high of this and all before */
    uint32_t id;
};

struct rangemap {
    struct range *r;
    size_t n, alloc;
};

/* An empty range is left out. */
void rangemap_add(struct rangemap *m, uint64_t low, uint64_t high, uint32_t id);
void rangemap_finish(struct rangemap *m);
void rangemap_release(struct rangemap *m);

/* The id, or RANGEMAP_NONE. */
uint32_t rangemap_find(const struct rangemap *m, uint64_t addr);

#endif
