/*
 * address_kind.h: the place of an address in a traced process. tracer/stacks/address_space.h finds
 * it; it names futexes, and separates the shared ones from the private ones.
 */
#ifndef FLAME_TRACER_OBJECTS_ADDRESS_KIND_H
#define FLAME_TRACER_OBJECTS_ADDRESS_KIND_H

#include "common/compiler.h"

enum space_area {
    SPACE_NOWHERE, /* unknown, or not mapped */
    SPACE_MODULE,  /* a module's code or data: it may have a name */
    SPACE_HEAP,
    SPACE_STACK,
    SPACE_ANON,
    SPACE_SHARED, /* memory shared between processes */
};

struct space_place {
    enum space_area area;
    const char *path;       /* SPACE_MODULE, SPACE_SHARED: the file's; borrowed from the space */
    uint64_t device, inode; /* SPACE_SHARED: of the file */
    uint64_t offset;        /* SPACE_SHARED: of the address in that file */
};

#endif
