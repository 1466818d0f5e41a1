/*
 * debuginfod.h: debug files from the servers that DEBUGINFOD_URLS names.
 *
 * The variable, and where files are cached, are those of elfutils' debuginfod_find_debuginfo(3),
 * whose library is loaded when there is something to ask. Without the variable nothing is asked of
 * anybody. Not thread-safe.
 */
#ifndef FLAME_FOLD_SYMBOLS_DEBUGINFOD_H
#define FLAME_FOLD_SYMBOLS_DEBUGINFOD_H

#include <stdint.h>

#include "common/compiler.h"

/* To be called before a fork: children then share that a server did not answer, and it is waited
 * for once, however many of them there are. */
void debuginfod_share(void);

/* The debug file of this build-id in the cache, to be freed; NULL: there is none. `what` is the
 * file it belongs to, for messages. */
char *debuginfod_fetch(const uint8_t *id, size_t len, const char *what);

#endif
