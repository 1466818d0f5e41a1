/*
 * openregions.h: the open regions of a thread, as the program marks them (preload/flamemem.h).
 *
 * A tag is a region from its push to its pop, and nests; marks of one name are regions from one to
 * the next. A region belongs to the thread that began it: a forked child begins with none. When a
 * thread ends, or its process runs another program, its open regions end and are marked as cut. The
 * time after the last mark is no pass.
 *
 * All zero is a thread in no region; openregions_end restores that and frees the memory. Not
 * thread-safe.
 */
#ifndef FLAME_TRACER_OPENREGIONS_H
#define FLAME_TRACER_OPENREGIONS_H

#include <stdbool.h>

#include "inproc/ring.h"
#include "tracer/output/regionlog.h"

#define OPENREGIONS_DEEP 32u /* nested regions, as many as the memory recorder has */

struct openregions {
    struct openregion {
        uint64_t begin;
        uint32_t number; /* regionlog_name's */
    } * open;            /* OPENREGIONS_DEEP of them; NULL: no region has begun yet */
    uint32_t n, too_deep;
    struct openregion *passes; /* the last mark of each name */
    size_t npasses, passes_room;
};

/* Handles a marker of the thread with the record `thread`, set at `time`. */
void openregions_marker(struct openregions *o, struct regionlog *log, uint16_t thread,
                        enum ring_region what, const char *name, size_t len, uint64_t time);

/* Ends all open regions, because the thread or the recording ends. */
void openregions_end(struct openregions *o, struct regionlog *log, uint16_t thread, uint64_t time);

#endif
