/*
 * gotpatch.h: replaces what one loaded module imports.
 *
 * For libunwind inside a traced program: its calls to pipe2, mincore,
 * dl_iterate_phdr and the like go to functions of ours, for that library alone;
 * nobody else's calls change. And for allocators' functions that programs call by
 * names of their own (preload/allocators/hooks_entries.c). At start only; a call that another
 * thread makes meanwhile goes to either function. No malloc.
 */
#ifndef FLAME_UNWIND_GOTPATCH_H
#define FLAME_UNWIND_GOTPATCH_H

#include <stdbool.h>

#include "common/compiler.h"

struct link_map; /* link.h, for those who define _GNU_SOURCE */

struct gotpatch {
    const char *symbol;
    void *replacement;
    uintptr_t original; /* words of data that were set to it are replaced, too; 0: none are */
};

/*
 * `handle` is dlopen's, or the loader's link_map of the program or of a module whose first page
 * can be read. Returns how many slots were
 * changed (a symbol the module does not import changes none), or -errno when a slot's page
 * cannot be made writable, or the module's header not be read.
 */
int gotpatch_apply(void *handle, const struct gotpatch *patches, size_t n);

/* Whether what the module calls by `symbol` is in [lo, hi). Nobody may unload it meanwhile. */
bool gotpatch_is_bound(const struct link_map *map, const char *symbol, uintptr_t lo, uintptr_t hi);

#endif
