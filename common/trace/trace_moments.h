/*
 * trace_moments.h: moments, the live blocks at several times of the run.
 *
 * The watcher of a recording has stored, for each moment that it took, how the rows of the trace
 * had changed (TRACE_META_MOMENT): in the trace itself, or in a file beside it that has the trace's
 * name with TRACE_MOMENTS_ENDING behind it. That file is a trace with nothing but metadata, whose
 * header names the process.
 *
 * Times are CLOCK_MONOTONIC in nanoseconds; times that are printed or typed count from
 * trace.time_zero_ns. Not thread-safe for one trace.
 */
#ifndef FLAME_COMMON_TRACE_TRACE_MOMENTS_H
#define FLAME_COMMON_TRACE_TRACE_MOMENTS_H

#include "common/strbuf.h"
#include "common/trace/trace.h"

#define TRACE_MOMENTS_ENDING ".moments"

/* Change of a row's live bytes and blocks, modulo 2^64. */
struct trace_change {
    uint32_t row; /* the row's id, which the trace may lack: it may be an older copy */
    uint64_t bytes, blocks;
};

/* Iterator over the entries of a moment. */
struct trace_changes {
    const uint8_t *at, *end;
    uint32_t row, left;
};

void trace_changes_begin(struct trace_changes *c, const struct trace_moment_view *m);
/* False: there are no more. */
bool trace_changes_next(struct trace_changes *c, struct trace_change *out);

/* Appends the payload of a TRACE_META_MOMENT; the changes are by ascending row. m->entries is set
 * here. */
void trace_moment_encode(struct strbuf *out, struct trace_moment *m,
                         const struct trace_change *changes, size_t n);

/* Live bytes and blocks of a row. */
struct trace_amount {
    uint64_t bytes, blocks;
};

/*
 * Reads the moments from the file beside the one that t was read from, if t has none itself.
 * Returns 0, also if there are none or they belong to another process; or an enum flame_exit after
 * an error line. A second call does nothing.
 */
int trace_moments_beside(struct trace *t);

/* Nanoseconds from the beginning of the recording, in whole microseconds, rounded up: so a user who
 * asks for the time that was shown gets the moment again. */
uint64_t trace_moment_shown(const struct trace *t, uint64_t monotonic_ns);

/* The last moment at or before that time, or NULL. */
const struct trace_moment_view *trace_moment_at(const struct trace *t, uint64_t monotonic_ns);

/* Whether the process existed at that time, as far as its moments and its start show. */
bool trace_is_there(const struct trace *t, uint64_t monotonic_ns);

/* Live amounts at that time, by row, for t->row_limit rows; *of_row has room for so many and is
 * overwritten. All are 0 before the process began and after it ended. Rows of inherited blocks
 * (trace_inherit) have what was live at the fork. */
void trace_moments_live(const struct trace *t, uint64_t monotonic_ns, struct trace_amount *of_row);

/*
 * Chooses which of n moments, sorted by time, are kept at the time `now`: their distances are
 * 1/per_age to 2/per_age of their age, or larger where no moment is between. So all moments younger
 * than per_age times their distance are kept, also when the moments have been thinned before. The
 * first and the last are always kept. Returns the number of kept moments: about per_age * (1 + ln(A
 * / per_age)) at most for moments at every second for A seconds.
 */
size_t trace_moments_thin(const uint64_t *times, bool *keep, size_t n, uint64_t now,
                          uint64_t per_age);

#endif
