/*
 * maps_snapshot.h: the mappings of a process, as of the last reading of /proc/PID/maps.
 */
#ifndef FLAME_INJECT_MAPS_SNAPSHOT_H
#define FLAME_INJECT_MAPS_SNAPSHOT_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/compiler.h"

struct maps_snapshot_map {
    uintptr_t start, end;
    bool read, write, exec, shared, stack, heap; /* heap: the break's */
    uint64_t device, inode;                      /* 0: not a file's mapping */
};

struct maps_snapshot {
    struct maps_snapshot_map *maps; /* by address */
    size_t n, room;
    uintptr_t loader_start, loader_end; /* code of the loader; 0: not known */
    bool changed;                       /* the mappings differ from the previous reading */
    /* Names for maps_snapshot_has: libraries of sanitizers and flame's own. */
    char **odd;
    size_t nodd, odd_room;
};

/* Reads the mappings. `loader`: an address in the loader's file, or 0. False: the file cannot be
 * read. */
bool maps_snapshot_read(struct maps_snapshot *m, pid_t pid, uintptr_t loader);
void maps_snapshot_release(struct maps_snapshot *m);

/* The mapping that contains `at`, or NULL. Valid until the next reading. */
const struct maps_snapshot_map *maps_snapshot_find(const struct maps_snapshot *m, uintptr_t at);

/* Whether both addresses lie in mappings of the same file. */
bool maps_snapshot_same_file(const struct maps_snapshot *m, uintptr_t a, uintptr_t b);

/* Whether a library is mapped whose path contains `part`, which must be one of the parts that
 * note_name knows. */
bool maps_snapshot_has(const struct maps_snapshot *m, const char *part, const char **name);

#endif
