/*
 * debpackage.h: which Debian package a file is of, which one has its symbols, and the command that
 * installs that one.
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

/* Description of the distribution, os-release(5). */
#define DEBPACKAGE_RELEASE "/etc/os-release"

/* Appends the shell command that installs such a package. Those of Debian and Ubuntu, but for the C
 * library's, are in an archive of their own, which the command adds if `release`, a file such as
 * os-release(5) describes, names the distribution. */
void debpackage_add_command(const char *release, const char *package, struct strbuf *out);

#endif
