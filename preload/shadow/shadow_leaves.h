/*
 * shadow_leaves.h: which leaves the shadow map has, and which of their pages were ever
 * written to, so that walking it costs what is in it and not what it could hold.
 * Internal to the shadow map's files.
 */
#ifndef FLAME_PRELOAD_SHADOW_SHADOW_LEAVES_H
#define FLAME_PRELOAD_SHADOW_SHADOW_LEAVES_H

#include <stdbool.h>

#include "common/compiler.h"

#define SHADOW_PAGE 4096u
#define SHADOW_LEAF_PAGES 512u /* of the largest leaf */

enum shadow_leaf_kind {
    SHADOW_LEAF_NONE = 0,
    SHADOW_LEAF_SMALL,
    SHADOW_LEAF_BIG,
};

/* Called once for each leaf, when it has its place in the map; `base` is the first
 * address it is for. Any thread. A leaf that finds no room here is not walked (there is
 * room for 2^20). */
void shadow_leaves_add(enum shadow_leaf_kind kind, void *leaf, uintptr_t base);

/* Whether all that were added are walked. */
bool shadow_leaves_complete(void);

/* Calls `visit` for each leaf of that kind. Single-threaded. */
void shadow_leaves_each(enum shadow_leaf_kind kind,
                        void (*visit)(void *leaf, uintptr_t base, void *arg), void *arg);

/* The kernel's word on a process's own pages, /proc/self/pagemap (the kernel's
 * Documentation/admin-guide/mm/pagemap.rst). */
#define SHADOW_PAGES_UNKNOWN UINT64_MAX /* no entry of the kernel's: it was not to be had */
struct shadow_pages {
    int fd;       /* -1: it cannot be had, and every page may have been written to */
    bool no_scan; /* the kernel is older than 6.7, and cannot find the next page */
    uint64_t entries[SHADOW_LEAF_PAGES];
};

void shadow_pages_open(struct shadow_pages *p);
void shadow_pages_close(struct shadow_pages *p);
/* Looks at the pages of memory[0..size), whole ones of SHADOW_PAGE and SHADOW_LEAF_PAGES at
 * most. The calls of shadow_pages_written that follow are about them. */
void shadow_pages_look(struct shadow_pages *p, const void *memory, size_t size);

/* The first address in [at, end), of a page, where something may have been written; `end` if
 * nothing was. It is quick over what is empty, and slower than a look where there is much. */
uintptr_t shadow_pages_next(struct shadow_pages *p, uintptr_t at, uintptr_t end);

/* False: page `i` of what was looked at has been zero from the beginning. */
static inline bool shadow_pages_written(const struct shadow_pages *p, size_t i)
{
    return p->entries[i] >> 62; /* in memory, or swapped out */
}

#endif
