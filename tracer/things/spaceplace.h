/*
 * spaceplace.h: what an address of a traced process lies in. tracer/stacks/space.h finds it out;
 * it names futexes, and tells the shared ones apart from the private ones.
 */
#ifndef FLAME_TRACER_THINGS_SPACEPLACE_H
#define FLAME_TRACER_THINGS_SPACEPLACE_H

#include "common/compiler.h"

enum space_area {
    SPACE_NOWHERE, /* not known, or nothing is mapped there */
    SPACE_MODULE,  /* a module's code or data: it may have a name */
    SPACE_HEAP,
    SPACE_STACK,
    SPACE_ANON,
    SPACE_SHARED, /* memory shared between processes */
};

struct space_place {
    enum space_area area;
    const char *path;       /* SPACE_MODULE, SPACE_SHARED: the file's; lent by who found it */
    uint64_t device, inode; /* SPACE_SHARED: of the file */
    uint64_t offset;        /* SPACE_SHARED: of the address in that file */
};

#endif
