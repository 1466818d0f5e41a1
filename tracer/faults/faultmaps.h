/*
 * faultmaps.h: the code that a process has mapped, as the records of its mappings tell it.
 *
 * The kernel tells of code that is mapped and not of what is unmapped: a mapping is believed until
 * another one lies over it.
 *
 * All zero has nothing. Not thread-safe. Allocates (common/alloc.h).
 */
#ifndef FLAME_TRACER_FAULTS_FAULTMAPS_H
#define FLAME_TRACER_FAULTS_FAULTMAPS_H

#include "common/procmaps.h"

struct faultmaps {
    struct procmap *maps; /* by address; the names are owned */
    size_t n, room;
};

/* The name is copied. What lay there is not there any more, in parts where it is longer. */
void faultmaps_add(struct faultmaps *f, const struct procmap *m);
/* Makes *to, which holds nothing, the same. */
void faultmaps_copy(struct faultmaps *to, const struct faultmaps *from);
void faultmaps_release(struct faultmaps *f);

#endif
