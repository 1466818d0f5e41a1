/*
 * procmaps.h: /proc/PID/maps, read without stdio or malloc.
 *
 * Format: proc_pid_maps(5). Lines that do not fit that format are skipped. Usable inside a traced
 * program and in signal handlers; opens and closes one descriptor. errno may change.
 */
#ifndef FLAME_COMMON_PROCMAPS_H
#define FLAME_COMMON_PROCMAPS_H

#include <stdbool.h>

#include "common/compiler.h"

struct procmap {
    uintptr_t start, end;
    bool read, write, exec, shared;
    bool stack; /* named "[stack]": it grows downwards */
    uint64_t offset;
    uint32_t major, minor; /* device of the file; 0 and inode 0: no file */
    uint64_t inode;
    /* Name as the line has it, with "\\012" for a newline and perhaps " (deleted)" behind it. It is
     * not NUL-terminated, is valid during the visit, and is cut if it is very long. */
    const char *name;
    size_t name_len;
};

/* Calls `visit` for each mapping, in order of address, until it returns true. `pid` 0 is the
 * calling process. Returns whether a visit returned true; false also when the file cannot be
 * read. */
bool procmaps_each(int pid, bool (*visit)(const struct procmap *map, void *arg), void *arg);

/* Like procmaps_each, for the calling process with the lines of smaps, for which the kernel walks
 * all page tables. `filled` is called after the visit of a mapping that other code fills by
 * userfaultfd(2): reading a missing page there waits for that code. `guarded`: writes wait for it,
 * too. Both callbacks return true to end. */
bool procmaps_each_filled(bool (*visit)(const struct procmap *map, void *arg),
                          bool (*filled)(bool guarded, void *arg), void *arg);

/* Parses one line without its newline. */
bool procmaps_parse(const char *line, size_t len, struct procmap *out);

/*
 * The path of the program this process runs, NUL-terminated: /proc/self/exe, or, if links may not
 * be read or the link names a loader, the file that holds its entry point. Returns its length, or
 * <= 0 and "".
 */
long procmaps_program(char *buf, size_t size);

/* The mapping that holds `addr`. */
bool procmaps_find(int pid, uintptr_t addr, struct procmap *out);

#endif
