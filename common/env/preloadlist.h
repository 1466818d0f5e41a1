/*
 * preloadlist.h: reads LD_PRELOAD in an environment, and copies environments without one library.
 *
 * For code inside of programs that are about to execute another (preloadable.h says which programs
 * fail with a preloaded library). The environment itself is never written to: a copy is an array of
 * the same pointers, with one string of its own. Calls no libc function that could be interposed,
 * takes no lock, and allocates only pages, for environments of more than PRELOADLIST_ENTRIES; works
 * between vfork and exec and in signal handlers. A library is recognised by the last component of
 * its path. Preserves errno.
 */
#ifndef FLAME_COMMON_ENV_PRELOADLIST_H
#define FLAME_COMMON_ENV_PRELOADLIST_H

#include <stdbool.h>

#include "common/compiler.h"

#define PRELOADLIST_ENTRIES 384
#define PRELOADLIST_TEXT 512

/* The value of the last entry "NAME=...", which is the one the loader takes; NULL: no such entry.
 * `name` with the "=". envp may be NULL. */
const char *preloadlist_value(char *const *envp, const char *name);

/* The next entry of a list as the loader cuts it, or NULL. *s is moved behind it. */
const char *preloadlist_next(const char **s, size_t *len);

/* Whether the entry names this library: "/lib/libx.so" names "libx.so". */
bool preloadlist_is(const char *entry, size_t len, const char *library);

/* Whether the entry names a sanitizer's library, which must come first: libasan.so.8. */
bool preloadlist_is_sanitizer(const char *entry, size_t len);

struct preloadlist_copy {
    char *const *envp; /* the copy; NULL: none was needed, or there was no room for it */
    void *pages;
    size_t pages_size;
    char *entries[PRELOADLIST_ENTRIES];
    char list[PRELOADLIST_TEXT]; /* "LD_PRELOAD=" and the rest of the list */
};

/* Copies the environment, with the library removed from LD_PRELOAD. Release the copy in any
 * case. */
void preloadlist_without(struct preloadlist_copy *copy, char *const *envp, const char *library);
/* Like preloadlist_without(), with the file `instead` (a path without ':' or blank; NULL: nothing)
 * in the library's place. */
void preloadlist_instead(struct preloadlist_copy *copy, char *const *envp, const char *library,
                         const char *instead);
void preloadlist_release(struct preloadlist_copy *copy);

#endif
