/*
 * debugfile.h: finds the separate debug information of a stripped file.
 */
#ifndef FLAME_FOLD_SYMBOLS_DEBUGFILE_H
#define FLAME_FOLD_SYMBOLS_DEBUGFILE_H

#include "fold/symbols/elfsym.h"

/* Directories laid out like /usr/lib/debug, searched in order. */
struct debug_dirs {
    char **dir;
    size_t n;
};

/*
 * Fills the list: the user's `extra` (may be NULL), then those in FLAME_DEBUG_DIRS (separated by
 * colons), then /usr/lib/debug. The word `none` in FLAME_DEBUG_DIRS ends the list: the
 * directories behind it, and /usr/lib/debug, are left out. Freed by debug_dirs_release.
 */
void debug_dirs_init(struct debug_dirs *d, const char *const *extra, size_t nextra);
void debug_dirs_release(struct debug_dirs *d);

/* DIR/.build-id/xx/yyyy.debug with this very build-id inside, or NULL. */
struct elfsym *debugfile_by_build_id(const struct debug_dirs *d, const uint8_t *id, size_t len);

/* The debug file with that build-id from the servers in DEBUGINFOD_URLS (debuginfod.h), or NULL. */
struct elfsym *debugfile_from_servers(const uint8_t *id, size_t len, const char *what);

/*
 * The file that `e`'s .gnu_debuglink names: beside e's own path, in .debug/ there,
 * or under one of the directories. Only a file with e's build-id, or with the
 * checksum that the link asks for, is taken. NULL when there is none.
 */
struct elfsym *debugfile_by_link(const struct debug_dirs *d, const struct elfsym *e);

/* The file of shared debug information (dwz) that `e` refers to, or NULL. */
struct elfsym *debugfile_alternate(const struct debug_dirs *d, const struct elfsym *e);

#endif
