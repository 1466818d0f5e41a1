/*
 * gotpatch.h: replaces what one loaded library imports.
 *
 * For libunwind inside a traced program: its calls to pipe2, mincore,
 * dl_iterate_phdr and the like go to functions of ours, for that library alone;
 * nobody else's calls change. Not thread-safe; at start only. No malloc.
 */
#ifndef FLAME_UNWIND_GOTPATCH_H
#define FLAME_UNWIND_GOTPATCH_H

#include "common/compiler.h"

struct gotpatch {
    const char *symbol;
    void *replacement;
};

/*
 * `handle` is dlopen's. Returns how many slots were changed (a symbol the
 * library does not import changes none), or -errno when a slot's page cannot be
 * made writable.
 */
int gotpatch_apply(void *handle, const struct gotpatch *patches, size_t n);

#endif
