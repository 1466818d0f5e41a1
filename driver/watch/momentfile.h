/*
 * momentfile.h: moments of one recorded process on their way into a file (trace_moments.h).
 *
 * The file can be read at any instant, and what was written stays whatever becomes of the writer.
 * It is thinned by age: of what is old, moments are left out and their changes added to the next
 * one's. However much changes, it stays below a budget of bytes, as moments become fewer; as long
 * as the first and the last of them, and one more, are less than half of it.
 *
 * Not thread-safe for one file.
 */
#ifndef FLAME_DRIVER_WATCH_MOMENTFILE_H
#define FLAME_DRIVER_WATCH_MOMENTFILE_H

#include "common/trace/trace_moments.h"

#define MOMENTFILE_BUDGET ((uint64_t)64 << 20)
#define MOMENTFILE_PER_AGE 256u /* see trace_moments_thin */

struct momentfile;

/*
 * Makes the file `path` (one that is there is replaced), mode 0600, for the process of that header
 * and a recording that began at `zero_ns`. `budget`: MOMENTFILE_BUDGET, in tests less. NULL: it
 * cannot be made, errno says why.
 */
struct momentfile *momentfile_new(const char *path, const struct trace_header *of, uint64_t zero_ns,
                                  uint64_t budget);

/* Closes; the file stays. NULL is allowed. */
void momentfile_close(struct momentfile *f);

/* Adds a moment that is later than those before; changes by ascending row. 0 or -errno: nothing is
 * added any more. */
int momentfile_add(struct momentfile *f, struct trace_moment m, const struct trace_change *changes,
                   size_t n);

/* How long the file is by now. */
uint64_t momentfile_size(const struct momentfile *f);

/*
 * Appends the segments of the moments beside the trace `path` to `out`, as they may stand in the
 * trace itself behind `metas` other segments of metadata. Nothing, where there are none. 0, or an
 * enum flame_exit after a line.
 */
int momentfile_segments(struct strbuf *out, const char *path, uint32_t metas);

#endif
