/*
 * target.h: whether a command can be recorded, with the reason for people. Call it before
 * anything runs; common/preloadable.h decides.
 *
 * Thread-safe. Errors are one line on standard error and an enum flame_exit.
 */
#ifndef FLAME_DRIVER_RUN_TARGET_H
#define FLAME_DRIVER_RUN_TARGET_H

#include <stdbool.h>

#include "common/strbuf.h"

/*
 * Looks `command` up as execvp would. 0: *path is the file (the caller frees it). FLAME_USAGE: it
 * does not exist or is not executable, after a line.
 */
int target_find(const char *command, char **path);

/* Whether the program at `path`, or the interpreter of a script there, uses musl. */
bool target_uses_musl(const char *path);

/*
 * Checks that the file at `path` can be recorded with the library at `shim`. 0, or FLAME_USAGE
 * after a line with the reason. A file that may be executed but not read cannot be checked and
 * passes.
 */
int target_check(const char *path, const char *shim);

/* Whether the recorder of memory can be in a program. */
enum target_memory {
    TARGET_MEMORY,          /* it can */
    TARGET_CHILDREN_MEMORY, /* only in programs that it starts: it is static */
    TARGET_NO_MEMORY,       /* it must not be in its environment */
};

/*
 * Like target_check(), for a run that records waits as well: where only the library cannot be used
 * (a static program, musl without a recorder), a line says so, and the run can go on without
 * memory. 0 with *memory, or FLAME_USAGE after a line.
 */
int target_check_waits(const char *path, const char *shim, enum target_memory *memory);

/*
 * Like target_check(), but appends the reason to `why` instead of printing it; nothing if the file
 * can be recorded. 0, or FLAME_USAGE after a line about an invalid library.
 */
int target_refusal(const char *path, const char *shim, struct strbuf *why);

/*
 * Checks that system calls of the program at `path`, or of a script's interpreter, can be traced.
 * 0, or FLAME_USAGE after a line with the reason. It reads the file first, as a kernel that runs no
 * 32-bit programs would have execvp start a shell to read it.
 */
int target_check_traced(const char *path);

/* True when a preloaded library can load into programs of this machine at all: `shim` is a readable
 * ELF shared object. Otherwise prints a line with the error. */
int target_check_shim(const char *shim);

#endif
