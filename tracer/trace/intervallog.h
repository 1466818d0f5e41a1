/*
 * intervallog.h: when there was waited, in a trace that is being written (TRACE_META_INTERVALS).
 *
 * What is noted is in the file as soon as the function returns. It takes no more room than it may:
 * when that is full, short waits of one row that lie close together become one
 * (common/trace/trace_intervals.h), those that were noted first before others, until there is room
 * again; ever longer ones as time goes on. Sums stay as they are.
 *
 * Not thread-safe. A full disk, or more different rows than there is room for: what is noted from
 * then on, or was noted first, is counted as lost.
 */
#ifndef FLAME_TRACER_TRACE_INTERVALLOG_H
#define FLAME_TRACER_TRACE_INTERVALLOG_H

#include "common/trace/trace_intervals.h"
#include "common/trace/trace_writer.h"

struct intervallog;

/* The least room that is taken for anything. */
#define INTERVALLOG_LEAST ((uint64_t)256 << 10)

/* `most` bytes of the file at most, INTERVALLOG_LEAST or more. The writer is borrowed. */
struct intervallog *intervallog_new(struct trace_writer *w, uint64_t most);
void intervallog_free(struct intervallog *l); /* NULL: nothing; the file stays */

void intervallog_add(struct intervallog *l, const struct trace_interval *i);

/* What has become of it: the bytes of the file that are taken; waits shorter than short_ns may be
 * in sums (0: none is); and how much there was no room for. */
struct intervallog_facts {
    uint64_t bytes, short_ns, lost_ns;
};

struct intervallog_facts intervallog_facts(const struct intervallog *l);

#endif
