/*
 * mapframes.h: frames of addresses that a profile has together with its process's
 * /proc/PID/maps, as gperftools and jemalloc write them.
 *
 * Names come from the files as they are on this machine now: such a profile has no build-ids.
 * Not thread-safe for one struct mapped.
 */
#ifndef FLAME_FOLD_PROFILES_MAPFRAMES_H
#define FLAME_FOLD_PROFILES_MAPFRAMES_H

#include "fold/collapse/collapse.h"
#include "fold/stacks/span.h"

struct mapped;

struct mapped *mapped_new(void);
void mapped_free(struct mapped *m);

/* Takes a line of maps; false when it is none. */
bool mapped_line(struct mapped *m, struct span line);
/*
 * Pushes the frames of `address`, innermost first: functions, inlined ones with _[i]; or its
 * module; or, for an address outside of all files, "[unknown]", with opt->addrs its number.
 */
void mapped_push(struct mapped *m, struct collapse *c, uint64_t address);

#endif
