/*
 * imagefile.h: finds the image of a mapping: of the file that is mapped, even if another file now
 * has its name, or else of the process's memory.
 *
 * Images stay cached when no process maps them any more, up to a number: a build runs the same
 * compiler a thousand times. Not thread-safe.
 */
#ifndef FLAME_TRACER_STACKS_IMAGEFILE_H
#define FLAME_TRACER_STACKS_IMAGEFILE_H

#include "tracer/stacks/image.h"

struct imagefile;

/* A mapping, as /proc/TID/maps has it. */
struct imagefile_where {
    pid_t tid;
    uintptr_t start, end;
    uintptr_t base;         /* address of the file's byte 0; 0: it is not mapped */
    uint64_t device, inode; /* device: major << 32 | minor */
    const char *path;
};

struct imagefile *imagefile_new(void);
void imagefile_free(struct imagefile *f);

/* NULL when it is no ELF file or cannot be read. The caller has one reference. */
struct image *imagefile_find(struct imagefile *f, const struct imagefile_where *where);

#endif
