/*
 * live_rows.h: live blocks of a process, read from its trace while that is being written.
 *
 * Reads only rows, and finds the rows of the last reading at their old places. So it takes a
 * fraction of the time that loading the trace takes, and needs no help from the program. Each row's
 * bytes and blocks are of one instant. Rows are read one after another, within some 0.1 ms for each
 * MB of them.
 *
 * Not thread-safe for one struct live_rows.
 */
#ifndef FLAME_DRIVER_MONITOR_LIVE_ROWS_H
#define FLAME_DRIVER_MONITOR_LIVE_ROWS_H

#include "common/trace/trace_moments.h"

/* All zero at first. */
struct live_rows {
    struct trace_amount *seen; /* by row, at the last reading */
    size_t seen_room;
    struct trace_change *changes; /* since the reading before, by ascending row */
    size_t n, room;
    int64_t bytes; /* live and mapped, in all */
    struct live_rows_segment {
        uint64_t at; /* of its rows in the file */
        uint32_t first, records;
    } * segments;
    size_t nsegments, segments_room;
    uint64_t next; /* offset of the first segment that is not known yet */
};

/* Whether the file holds a trace of memory whose header is whole. */
bool live_rows_header(const char *path, struct trace_header *h);

/* Reads the trace, which must be that of the last reading. False: it is another, or cannot be read.
 * Then g does not change, except that its list of changes is empty. */
bool live_rows_read(struct live_rows *g, const char *path, const struct trace_header *of);

void live_rows_release(struct live_rows *g);

#endif
