/*
 * partfile.h: writes the parts of a recording of memory (common/trace/trace_parts.h) while the
 * process runs, and removes old ones.
 *
 * The trace is read from outside, without help from the process. A part is whole or absent. If one
 * cannot be written, because the disk is full, that is reported once, and its contents come with
 * the next part. Not thread-safe.
 */
#ifndef FLAME_DRIVER_MONITOR_PARTFILE_H
#define FLAME_DRIVER_MONITOR_PARTFILE_H

#include <stdbool.h>

#include "common/trace_format.h"

struct partfile;

/*
 * Writes parts of the trace `path`, from which that header was read, named OUTPUT.partNNNN.flame;
 * `output` is a name that may end in .flame. `limit`: bytes that the parts may take of the disk; 0:
 * any number. If there are parts of the same recording already, it continues behind the last. The
 * trace's file is locked (flock(2)), so that only one process writes parts of it. 0 and *out, or an
 * enum flame_exit after a line.
 */
int partfile_new(const char *path, const struct trace_header *h, const char *output, uint64_t limit,
                 struct partfile **out);
void partfile_free(struct partfile *p); /* NULL is allowed; the parts are not removed */

/* Bytes that the trace has grown by since the last seam. */
uint64_t partfile_grown(const struct partfile *p);

/* Ends a part now. */
void partfile_seam(struct partfile *p);

/* Numbers of parts that were written and removed; the name of the last, "" if there is none. */
uint64_t partfile_written(const struct partfile *p);
uint64_t partfile_removed(const struct partfile *p);
const char *partfile_last(const struct partfile *p);
/* The errno for which no part was written at the last seam; 0: one was written. */
int partfile_error(const struct partfile *p);

#endif
