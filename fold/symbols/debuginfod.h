/*
 * debuginfod.h: debug files from the servers that DEBUGINFOD_URLS names.
 *
 * The variable, and the directory of cached files, are those of elfutils'
 * debuginfod_find_debuginfo(3), whose library is loaded at the first request. Without the
 * variable there are no requests. Not thread-safe.
 */
#ifndef FLAME_FOLD_SYMBOLS_DEBUGINFOD_H
#define FLAME_FOLD_SYMBOLS_DEBUGINFOD_H

#include <stdint.h>

#include "common/compiler.h"

/* Call it before a fork: children then share that a server did not answer, so that the timeout
 * passes only once, however many children there are. */
void debuginfod_share(void);

/* The debug file of this build-id in the cache, to be freed; NULL: there is none. `what` is the
 * file it belongs to, for messages. */
char *debuginfod_fetch(const uint8_t *id, size_t len, const char *what);

#endif
