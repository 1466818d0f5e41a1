/*
 * shadow_leaves.h: list of the shadow map's leaves, and which of their pages were ever written to.
 * So a walk of the map costs as much as it contains, and not as much as it could contain. Internal
 * to the shadow map's files.
 */
#ifndef FLAME_PRELOAD_SHADOW_SHADOW_LEAVES_H
#define FLAME_PRELOAD_SHADOW_SHADOW_LEAVES_H

#include <stdbool.h>

#include "common/compiler.h"
#include "preload/shadow/pagemap.h"

#define SHADOW_PAGE PAGEMAP_SLOT
#define SHADOW_LEAF_PAGES 512u /* number of pages of the largest leaf */

enum shadow_leaf_kind {
    SHADOW_LEAF_NONE = 0,
    SHADOW_LEAF_SMALL,
    SHADOW_LEAF_BIG,
};

/* To be called once for each leaf, after it is installed in the map; `base` is the first address
 * that it covers. Any thread. A leaf that finds no room in the list is not walked (there is room
 * for 2^20). */
void shadow_leaves_add(enum shadow_leaf_kind kind, void *leaf, uintptr_t base);

/* Whether all leaves are in the list. */
bool shadow_leaves_complete(void);

/* Calls `visit` for each leaf of that kind. Single-threaded. */
void shadow_leaves_each(enum shadow_leaf_kind kind,
                        void (*visit)(void *leaf, uintptr_t base, void *arg), void *arg);

/* Pages of this process, as reported by the kernel in /proc/self/pagemap (the kernel's
 * Documentation/admin-guide/mm/pagemap.rst). */
#define SHADOW_PAGES_UNKNOWN UINT64_MAX /* no entry of the kernel's: the file could not be read */
struct shadow_pages {
    int fd;       /* -1: it cannot be opened, and every page may have been written to */
    bool no_scan; /* the kernel is older than 6.7, and cannot search for the next page */
    uint64_t entries[SHADOW_LEAF_PAGES];
};

void shadow_pages_open(struct shadow_pages *p);
void shadow_pages_close(struct shadow_pages *p);
/* Reads the entries of memory[0..size), whole pages of SHADOW_PAGE and SHADOW_LEAF_PAGES at most.
 * Later calls of shadow_pages_written are about these pages. */
void shadow_pages_look(struct shadow_pages *p, const void *memory, size_t size);

/* Address of the first page in [at, end) that may have been written to; `end` if there is none. It
 * is fast for empty memory, and slower than shadow_pages_look where many pages are written. */
uintptr_t shadow_pages_next(struct shadow_pages *p, uintptr_t at, uintptr_t end);

/* False: page `i` of the pages read last has never been written to, and is zero. */
static inline bool shadow_pages_written(const struct shadow_pages *p, size_t i)
{
    return p->entries[i] >> 62; /* in memory, or swapped out */
}

#endif
