/*
 * intervallog.h: the times of waits, in a trace that is being written (TRACE_META_INTERVALS).
 *
 * An entry is in the file as soon as the function returns. The log has a fixed room. When that is
 * full, short waits of one row that lie close together become one (common/trace/trace_intervals.h),
 * the oldest first, until there is room again; ever longer ones as time goes on. Sums stay as they
 * are. A log may also keep only the last part of the time: then older entries make room first.
 *
 * Not thread-safe. On a full disk, or with more different rows than there is room for, later
 * entries, or the oldest ones, are counted as lost.
 */
#ifndef FLAME_TRACER_OUTPUT_INTERVALLOG_H
#define FLAME_TRACER_OUTPUT_INTERVALLOG_H

#include "common/trace/trace_intervals.h"
#include "common/trace/trace_writer.h"

struct intervallog;

/* Smallest room for a log. */
#define INTERVALLOG_LEAST ((uint64_t)256 << 10)

/* `most` bytes of the file at most, INTERVALLOG_LEAST or more. Entries that ended keep_ns or more
 * before the newest one may go (0: none may). The writer is borrowed. */
struct intervallog *intervallog_new(struct trace_writer *w, uint64_t most, uint64_t keep_ns);
void intervallog_free(struct intervallog *l); /* NULL: does nothing; the file stays */

void intervallog_add(struct intervallog *l, const struct trace_interval *i);

/* From now on only what began before `now` is added, and nothing makes room for it. */
void intervallog_freeze(struct intervallog *l, uint64_t now);

/* State of the log: bytes of the file; waits shorter than short_ns may be in sums (0: none is); the
 * time for which there was no room; and the time that went because it was too old. */
struct intervallog_facts {
    uint64_t bytes, short_ns, lost_ns, old_ns;
};

struct intervallog_facts intervallog_facts(const struct intervallog *l);

#endif
