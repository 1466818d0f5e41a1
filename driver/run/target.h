/*
 * target.h: tells whether a command can be recorded. Asked before anything runs, and answered in
 * words; common/preloadable.h knows.
 *
 * Thread-safe. Errors are one line on standard error and an enum flame_exit.
 */
#ifndef FLAME_DRIVER_RUN_TARGET_H
#define FLAME_DRIVER_RUN_TARGET_H

#include "common/compiler.h"

/*
 * Looks `command` up as execvp would. 0: *path is the file (the caller frees
 * it). FLAME_USAGE: not there or not executable, and a line says so.
 */
int target_find(const char *command, char **path);

/*
 * Checks that the file at `path` can be recorded with the library at `shim`.
 * 0, or FLAME_USAGE after a line that says why not. A file that may be executed
 * but not read cannot be checked and passes.
 */
int target_check(const char *path, const char *shim);

/* True when a preloaded library can load into programs of this machine at all:
 * `shim` is a readable ELF shared object. Otherwise a line says what is wrong. */
int target_check_shim(const char *shim);

#endif
