/*
 * shadow_install.h: installs a new part of a map while other threads may be doing the same.
 * Internal to the shadow map's files.
 */
#ifndef FLAME_PRELOAD_SHADOW_SHADOW_INSTALL_H
#define FLAME_PRELOAD_SHADOW_SHADOW_INSTALL_H

#include <stdbool.h>

#include "common/pages.h"

/* Puts `mine` (from pages, `size` bytes; NULL: there was no memory) into *where and returns it. If
 * another thread was first, frees `mine` and returns the other thread's part. */
static inline void *shadow_install(void **where, void *mine, size_t size)
{
    void *theirs = NULL;

    if (!mine || __atomic_compare_exchange_n(where, &theirs, mine, false, __ATOMIC_ACQ_REL,
                                             __ATOMIC_ACQUIRE)) {
        if (mine)
            pages_sparse(size);
        return mine;
    }
    pages_free(mine, size);
    return theirs;
}

#endif
