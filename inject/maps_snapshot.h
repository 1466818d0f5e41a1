/*
 * maps_snapshot.h: the mappings of a process, as /proc/PID/maps had them at the last reading.
 */
#ifndef FLAME_INJECT_MAPS_SNAPSHOT_H
#define FLAME_INJECT_MAPS_SNAPSHOT_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/compiler.h"

struct maps_snapshot_map {
    uintptr_t start, end;
    bool read, write, exec, shared, stack;
    uint64_t device, inode; /* 0: of no file */
};

struct maps_snapshot {
    struct maps_snapshot_map *maps; /* by address */
    size_t n, room;
    uintptr_t loader_start, loader_end; /* code of the loader; 0: not known */
    bool changed;                       /* other mappings than at the reading before */
    /* Names that were met and may be asked for: of libraries of sanitizers and flame's own. */
    char **odd;
    size_t nodd, odd_room;
};

/* `loader`: an address in the loader's file, or 0. False: it cannot be read. */
bool maps_snapshot_read(struct maps_snapshot *m, pid_t pid, uintptr_t loader);
void maps_snapshot_release(struct maps_snapshot *m);

/* The mapping that holds `at`, or NULL. Valid until the next reading. */
const struct maps_snapshot_map *maps_snapshot_find(const struct maps_snapshot *m, uintptr_t at);

/* Whether both lie in mappings of the same file. */
bool maps_snapshot_same_file(const struct maps_snapshot *m, uintptr_t a, uintptr_t b);

/* Whether a library is mapped whose path has `part` in it, one of those that note_name knows. */
bool maps_snapshot_has(const struct maps_snapshot *m, const char *part, const char **name);

#endif
