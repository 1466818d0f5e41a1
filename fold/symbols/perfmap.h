/*
 * perfmap.h: names that a JIT compiler left for its code in /tmp/perf-PID.map.
 *
 * Format (the kernel's tools/perf/Documentation/jit-interface.txt): a line per function, "START
 * SIZE NAME", both numbers hexadecimal, the name to the end of the line. Where ranges overlap
 * the later line counts: code was moved or thrown away. Lines of any other form are skipped. Not
 * thread-safe.
 */
#ifndef FLAME_FOLD_SYMBOLS_PERFMAP_H
#define FLAME_FOLD_SYMBOLS_PERFMAP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/compiler.h"

struct perfmap;

/*
 * The map of process `pid`, or NULL when there is no safe one. As anyone can write to /tmp, it
 * must be a regular file, no symbolic link, and belong to the user. A file that was last written
 * before `since_ns` (CLOCK_REALTIME, nanoseconds) is of an earlier process with that number; 0: any
 * file is taken.
 */
struct perfmap *perfmap_open(uint32_t pid, uint64_t since_ns);

/* Whether perfmap_open would return a map. */
bool perfmap_is_there(uint32_t pid, uint64_t since_ns);

/* Like perfmap_open, from bytes in memory, which must outlive the map. Never NULL. */
struct perfmap *perfmap_parse(const char *text, size_t len);
void perfmap_free(struct perfmap *map);

/* Name of the code at `addr`, not NUL-terminated, or NULL. Lives as long as the map. */
const char *perfmap_find(const struct perfmap *map, uint64_t addr, size_t *len);

#endif
