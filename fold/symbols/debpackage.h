/*
 * debpackage.h: which Debian package a file is of, and which one has its symbols.
 *
 * The answer is in dpkg's lists of files; no program is run. Thread-safe.
 */
#ifndef FLAME_FOLD_SYMBOLS_DEBPACKAGE_H
#define FLAME_FOLD_SYMBOLS_DEBPACKAGE_H

#include <stdbool.h>

#include "common/strbuf.h"

#define DEBPACKAGE_LISTS "/var/lib/dpkg/info"

/* Appends the name of the package with the debugging symbols of the file at `path` (absolute)
 * to `out`. False: no package in `lists`, a directory of NAME.list or NAME:ARCH.list, has it. */
bool debpackage_of_symbols(const char *lists, const char *path, struct strbuf *out);

#endif
