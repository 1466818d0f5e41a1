/*
 * code_pages.h: the code of one module in memory: which mappings it is, writing to it, and room for
 * stubs that branches from it reach.
 *
 * Runs inside somebody else's program: all calls go through common/kernel.h, nothing here calls
 * malloc or libc. For one thread, as patch/patcher.h says.
 */
#ifndef FLAME_PATCH_CODE_PAGES_H
#define FLAME_PATCH_CODE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/compiler.h"

#define CODE_PAGES_PAGE ((uintptr_t)4096)
/* Text of one module is one mapping, or a few where somebody has split it. */
#define CODE_PAGES_MAX 16
/* How far from a place in the module a stub may be, less what the stub needs to reach it. */
#define CODE_PAGES_REACH ((uintptr_t)0x7ff00000)

struct code_pages {
    struct text {
        uintptr_t start, end;
        int protection;
    } t[CODE_PAGES_MAX];
    unsigned n;
    uintptr_t lo, hi; /* what is looked for: the caller's */
};

/* Finds the mappings of code that have bytes of [lo, hi). */
void code_pages_find(struct code_pages *texts);

/* Whether all of the bytes can be read and executed. */
bool code_pages_hold(const struct code_pages *texts, uintptr_t at, size_t size);

/* Whether a branch leads from anywhere in [lo, hi) to anywhere in these bytes, and back. */
bool code_pages_reach(const struct code_pages *texts, uintptr_t at, size_t size);

/* Memory that is reached and can be written to, as near as can be had: below the module, else above
 * it and its heap. 0: there is none. */
uintptr_t code_pages_map_near(const struct code_pages *texts, size_t size);

/* Makes the code writable; it stays executable. 0, or -errno and all is as it was. */
int code_pages_unlock(const struct code_pages *texts);
/* Gives each mapping the protection that it had. */
void code_pages_lock(const struct code_pages *texts);

/* mprotect; 0, or -errno. */
int code_pages_protect(uintptr_t start, uintptr_t end, int protection);

#endif
