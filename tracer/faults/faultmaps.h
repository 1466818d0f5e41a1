/*
 * faultmaps.h: the code that a process has mapped, by the kernel's records of its mappings.
 *
 * The kernel records mappings of code but not their removal: a mapping counts until another one
 * covers it.
 *
 * All zero is an empty set. Not thread-safe. Allocates (common/alloc.h).
 */
#ifndef FLAME_TRACER_FAULTS_FAULTMAPS_H
#define FLAME_TRACER_FAULTS_FAULTMAPS_H

#include "common/procmaps.h"

struct faultmaps {
    struct procmap *maps; /* by address; the names are owned */
    size_t n, room;
};

/* Adds a mapping; the name is copied. Removes the mappings that it covers, in part where they are
 * longer. */
void faultmaps_add(struct faultmaps *f, const struct procmap *m);
/* Copies all mappings into *to, which must be empty. */
void faultmaps_copy(struct faultmaps *to, const struct faultmaps *from);
void faultmaps_release(struct faultmaps *f);

#endif
