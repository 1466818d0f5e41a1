/*
 * momentfile.h: moments of one recorded process on their way into a file (trace_moments.h).
 *
 * The file can be read at any instant, and what was written stays whatever becomes of the writer.
 * It is thinned by age: of what is old, moments are left out and their changes added to the next
 * one's. However much changes, it stays below a budget of bytes, as moments become fewer; as long
 * as the first and the last of them, and one more, are less than half of it.
 *
 * Who writes to a file holds a lock on it (flock), so that two do not.
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

/* What was live by the moments of a file. */
struct momentfile_had {
    struct trace_amount *of_row; /* by row, n of them; the caller's to free */
    size_t n;
    uint64_t latest_ns; /* of the last moment */
};

struct momentfile_limits {
    uint64_t budget; /* as for momentfile_new */
    uint32_t rows;   /* the trace has none from this id on: what the file says of such is wrong */
};

/*
 * Goes on with the moments that were taken of that process into `path` before: *f is ready for more
 * and *had tells what they add up to. *f stays NULL if there are none of this process. 0, or
 * -EWOULDBLOCK: somebody is writing to the file; or another -errno.
 */
int momentfile_go_on(struct momentfile **f, const char *path, const struct trace_header *of,
                     const struct momentfile_limits *limits, struct momentfile_had *had);

/* Closes; the file stays. NULL is allowed. */
void momentfile_close(struct momentfile *f);

/* Adds a moment that is later than those before; changes by ascending row. 0 or -errno: nothing is
 * added any more. */
int momentfile_add(struct momentfile *f, struct trace_moment m, const struct trace_change *changes,
                   size_t n);

/* How long the file is by now. */
uint64_t momentfile_size(const struct momentfile *f);

/* Whether moments lie beside the trace `path` and are of the process with this header. */
bool momentfile_is_of(const char *path, const struct trace_header *of);

/*
 * Appends the segments of the moments beside the trace `path` to `out`, as they may stand in the
 * trace itself behind `metas` other segments of metadata. Nothing, where there are none. 0, or an
 * enum flame_exit after a line.
 */
int momentfile_segments(struct strbuf *out, const char *path, uint32_t metas);

#endif
