/*
 * momentfile.h: file of the moments of one recorded process (trace_moments.h), written while it
 * runs.
 *
 * The file can be read at any instant, and its contents remain valid if the writer dies. It is
 * thinned by age: old moments are dropped, and their changes added to the next moment. So the file
 * stays below a budget of bytes, however much changes. This holds while the first moment, the last,
 * and one more take less than half of it.
 *
 * A writer holds a lock on the file (flock), so that there is only one.
 *
 * Not thread-safe for one file.
 */
#ifndef FLAME_DRIVER_MONITOR_MOMENTFILE_H
#define FLAME_DRIVER_MONITOR_MOMENTFILE_H

#include "common/trace/trace_moments.h"

#define MOMENTFILE_BUDGET ((uint64_t)64 << 20)
#define MOMENTFILE_PER_AGE 256u /* see trace_moments_thin */

struct momentfile;

/*
 * Makes or replaces the file `path`, mode 0600, for the process of that header and a recording that
 * began at `zero_ns`. `budget`: MOMENTFILE_BUDGET, in tests less. NULL: it cannot be created, with
 * errno set.
 */
struct momentfile *momentfile_new(const char *path, const struct trace_header *of, uint64_t zero_ns,
                                  uint64_t budget);

/* Live blocks as the moments of a file add up to. */
struct momentfile_had {
    struct trace_amount *of_row; /* by row, n of them; the caller's to free */
    size_t n;
    uint64_t latest_ns; /* of the last moment */
};

struct momentfile_limits {
    uint64_t budget; /* as for momentfile_new */
    uint32_t rows;   /* the trace has only rows below this id; higher ids in the file are wrong */
};

/*
 * Continues the file `path` with the moments of that process: *f is ready for more, and *had is the
 * sum of the present ones. *f remains NULL if there are none of this process. 0, or -EWOULDBLOCK:
 * another process writes to the file; or another -errno.
 */
int momentfile_go_on(struct momentfile **f, const char *path, const struct trace_header *of,
                     const struct momentfile_limits *limits, struct momentfile_had *had);

/* Closes the file, without removing it. NULL is allowed. */
void momentfile_close(struct momentfile *f);

/* Adds a moment that is later than those before; changes by ascending row. 0 or -errno: from then
 * on nothing is added. */
int momentfile_add(struct momentfile *f, struct trace_moment m, const struct trace_change *changes,
                   size_t n);

/* The present length of the file. */
uint64_t momentfile_size(const struct momentfile *f);

/* Whether there is a file of moments beside the trace `path`, of the process with this header. */
bool momentfile_is_of(const char *path, const struct trace_header *of);

/*
 * Appends the segments of the moments beside the trace `path` to `out`. They may follow `metas`
 * other segments of metadata in the trace itself. Appends nothing if there are none. 0, or an enum
 * flame_exit after a line.
 */
int momentfile_segments(struct strbuf *out, const char *path, uint32_t metas);

#endif
