/*
 * trace_parts.h: a long recording of memory in parts, for example one file for each hour.
 *
 * A trace counts and does not log. So a part is a copy of the trace at one seam; TRACE_META_PART in
 * it has the counts of rows and threads at the seam before. Read alone, a part shows the
 * allocations between the two seams, and the live blocks at its end. The last of several parts has
 * counted everything since the first began. So nothing can be lost or counted twice at a seam, and
 * the sums are those of the trace itself, bit by bit.
 *
 * Rejected: parts that hold differences alone. Counts that were read while they were written would
 * be below zero in some part, and a lost part would be missing in all sums for ever.
 *
 * Views of a peak describe the recording until the part's end, not the part alone; so do verdicts,
 * marks and measurements of resident memory. Not thread-safe for one trace.
 */
#ifndef FLAME_COMMON_TRACE_TRACE_PARTS_H
#define FLAME_COMMON_TRACE_TRACE_PARTS_H

#include "common/strbuf.h"
#include "common/trace/trace.h"

/*
 * Payload of TRACE_META_PART (trace_format.h): struct trace_part_facts, then numbers (LEB128).
 * First come the header's counters at the seam before, TRACE_PART_HEADER of them. For each of
 * `rows` rows follow the difference of its id to that of the row before (to 0), and TRACE_PART_ROW
 * counters; then the same for each of `threads` threads, with TRACE_PART_THREAD counters.
 */
#define TRACE_PART_HEADER 12
#define TRACE_PART_ROW 5    /* alloc_bytes, alloc_calls, free_bytes, free_calls, temp_calls */
#define TRACE_PART_THREAD 4 /* events, cost_samples, cost_ns, skipped */

struct trace_part_facts {
    uint64_t begin_ns, end_ns; /* times of the seams; CLOCK_MONOTONIC; begin <= end */
    uint32_t number;           /* from 1 */
    uint32_t rows, threads;
    uint32_t reserved;
};
_Static_assert(sizeof(struct trace_part_facts) == 32, "on disk");

/* Counters of a trace at a seam. All zero: nothing had been counted. Modulo 2^64. */
struct trace_counted {
    uint64_t header[TRACE_PART_HEADER];
    uint64_t (*rows)[TRACE_PART_ROW]; /* by id; owned */
    uint64_t (*threads)[TRACE_PART_THREAD];
    uint32_t nrows, nthreads;
};

/* Sets *c to the trace's counts, and frees its old ones. The trace must not have been settled. */
void trace_counted_take(struct trace_counted *c, const struct trace *t);
void trace_counted_release(struct trace_counted *c);

/* Appends the record's payload; facts->rows and ->threads are set here. */
void trace_part_encode(struct strbuf *out, const struct trace_part_facts *facts,
                       const struct trace_counted *earlier);

/*
 * Reads the record of a trace that is a part. 1: *facts and, if it is not NULL, *earlier are set,
 * which must be all zero and which the caller releases; 0: it is a whole recording; FLAME_USAGE
 * after a line: the record is invalid.
 */
int trace_part_of(const struct trace *t, struct trace_part_facts *facts,
                  struct trace_counted *earlier);

/* Parts that are collected until all have been read, and the recordings that are present as whole
 * traces. All zero is empty. */
struct trace_parts {
    struct trace **parts;
    size_t n, room;
    struct trace_recording {
        uint64_t realtime_ns, monotonic_ns; /* beginning of the recording */
        uint32_t pid;
    } * wholes;
    size_t nwholes, wholes_room;
};

/* Takes over a trace that is a part, and sets *taken. Leaves any other trace to the caller, and
 * then ignores parts of the same recording. 0, or FLAME_USAGE after a line: then the trace is the
 * caller's. */
int trace_parts_take(struct trace_parts *p, struct trace *t, bool *taken);

/*
 * Joins the parts of each recording to one trace, which has their counts: *out, for the caller to
 * free together with the traces in it. The seams define what a part covers, so parts may also come
 * from two watchers of one recording, and overlap. A line reports parts that are missing between
 * others, that are there twice, or whose recording is there as a whole. Afterwards p is empty.
 */
size_t trace_parts_join(struct trace_parts *p, struct trace ***out);

/* Settles a single trace: if it is a part, its rows become its own counts. 0, or FLAME_USAGE after
 * a line. */
int trace_part_settle(struct trace *t);

void trace_parts_release(struct trace_parts *p);

#endif
