/*
 * openregions.h: the regions that a thread is in, as it says itself (preload/flamemem.h).
 *
 * A tag is a region from its push to its pop, and nests; marks of one name are regions from one to
 * the next. A region belongs to the thread that began it: a forked child begins with none. What is
 * still open when a thread ends, or its process runs another program, ends there and is marked as
 * cut; the time behind the last mark is no pass.
 *
 * All zero is a thread in no region; openregions_end makes it that again and frees what it has. Not
 * thread-safe.
 */
#ifndef FLAME_TRACER_OPENREGIONS_H
#define FLAME_TRACER_OPENREGIONS_H

#include <stdbool.h>

#include "inproc/ring.h"
#include "tracer/output/regionlog.h"

#define OPENREGIONS_DEEP 32u /* within one another, as the recorder of memory has them */

struct openregions {
    struct openregion {
        uint64_t begin;
        uint32_t number; /* regionlog_name's */
    } * open;            /* OPENREGIONS_DEEP of them; NULL: there was none yet */
    uint32_t n, too_deep;
    struct openregion *passes; /* the last mark of each name */
    size_t npasses, passes_room;
};

/* The thread with the record `thread` has said that at `time`. */
void openregions_marker(struct openregions *o, struct regionlog *log, uint16_t thread,
                        enum ring_region what, const char *name, size_t len, uint64_t time);

/* The thread, or the recording, ends. */
void openregions_end(struct openregions *o, struct regionlog *log, uint16_t thread, uint64_t time);

#endif
