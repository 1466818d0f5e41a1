/*
 * glance.h: what is live in a process by its trace, while that is being written.
 *
 * Reads rows alone, those that there were at the glance before from where they lay then, so that it
 * takes a fraction of loading the trace, and asks nothing of the program. Each row's bytes and
 * blocks are of one instant; rows are read one after another, within some 0.1 ms for each MB of
 * them.
 *
 * Not thread-safe for one struct glance.
 */
#ifndef FLAME_DRIVER_WATCH_GLANCE_H
#define FLAME_DRIVER_WATCH_GLANCE_H

#include "common/trace/trace_moments.h"

/* All zero at first. */
struct glance {
    struct trace_amount *seen; /* by row, at the last glance */
    size_t seen_room;
    struct trace_change *changes; /* since the glance before, by ascending row */
    size_t n, room;
    int64_t bytes; /* live and mapped, in all */
    struct glance_segment {
        uint64_t at; /* of its rows in the file */
        uint32_t first, records;
    } * segments;
    size_t nsegments, segments_room;
    uint64_t next; /* where the first segment stands that is not known yet */
};

/* Whether the file holds a trace of memory whose header is whole. */
bool glance_header(const char *path, struct trace_header *h);

/* Looks at the trace, which must be that of the glance before. False: it is not, or cannot be
 * read, and g is as it was, but for the changes, which are none. */
bool glance_take(struct glance *g, const char *path, const struct trace_header *of);

void glance_release(struct glance *g);

#endif
