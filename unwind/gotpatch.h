/*
 * gotpatch.h: replaces functions that one loaded module imports.
 *
 * It has two uses. libunwind, inside a traced program, gets the recorder's versions of pipe2,
 * mincore, dl_iterate_phdr and the like; calls from other modules do not change. Allocators'
 * functions that programs call by names of their own get hooks
 * (preload/allocators/hooks_entries.c). To be used at the start only; a call that another thread
 * makes meanwhile reaches either function. No malloc.
 */
#ifndef FLAME_UNWIND_GOTPATCH_H
#define FLAME_UNWIND_GOTPATCH_H

#include <stdbool.h>

#include "common/compiler.h"

struct link_map; /* of link.h, for files that define _GNU_SOURCE */

struct gotpatch {
    const char *symbol;
    void *replacement;
    uintptr_t original; /* words of data with this value are replaced, too; 0: none are */
};

/*
 * `handle`: from dlopen, or the loader's link_map of the program or of a module whose first page
 * can be read. Returns the number of changed slots, which is 0 for a symbol that the module does
 * not import. -errno: a slot's page cannot be made writable, or the module's header cannot be read.
 */
int gotpatch_apply(void *handle, const struct gotpatch *patches, size_t n);

/* Whether the module's calls of `symbol` go to [lo, hi). The module must not be unloaded
 * meanwhile. */
bool gotpatch_is_bound(const struct link_map *map, const char *symbol, uintptr_t lo, uintptr_t hi);

#endif
