/*
 * code_pages.h: the code of one module in memory: its mappings, writing to it, and memory for stubs
 * within reach of branches.
 *
 * Runs inside a traced program: all calls go through common/kernel.h, nothing here calls malloc or
 * libc. For one thread, as patch/patcher.h says.
 */
#ifndef FLAME_PATCH_CODE_PAGES_H
#define FLAME_PATCH_CODE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/compiler.h"

#define CODE_PAGES_PAGE ((uintptr_t)4096)
/* The text of a module is one mapping, or a few if it has been split. */
#define CODE_PAGES_MAX 16
/* Limit of the distance between a stub and a place in the module, less the part that the stub
 * itself needs. */
#define CODE_PAGES_REACH ((uintptr_t)0x7ff00000)

struct code_pages {
    struct text {
        uintptr_t start, end;
        int protection;
    } t[CODE_PAGES_MAX];
    unsigned n;
    uintptr_t lo, hi; /* range to search, set by the caller */
};

/* Finds the mappings of code that contain bytes of [lo, hi). */
void code_pages_find(struct code_pages *texts);

/* Whether all of the bytes are readable and executable. */
bool code_pages_hold(const struct code_pages *texts, uintptr_t at, size_t size);

/* Whether a branch reaches from anywhere in [lo, hi) to anywhere in these bytes, and back. */
bool code_pages_reach(const struct code_pages *texts, uintptr_t at, size_t size);

/* Maps writable memory within reach, as near as possible: below the module, otherwise above it and
 * its heap. 0: there is none. */
uintptr_t code_pages_map_near(const struct code_pages *texts, size_t size);

/* Makes the code writable; it stays executable. 0, or -errno, and nothing has changed. */
int code_pages_unlock(const struct code_pages *texts);
/* Restores the protection of each mapping. */
void code_pages_lock(const struct code_pages *texts);

/* mprotect; 0, or -errno. */
int code_pages_protect(uintptr_t start, uintptr_t end, int protection);

#endif
