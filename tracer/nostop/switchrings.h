/*
 * switchrings.h: records of when threads of other processes leave their processors and come to one
 * (perf_event_open(2), context_switch): no stop, no signal, no code in the program. It needs no
 * privilege where kernel.perf_event_paranoid is 2 or less.
 *
 * There is a ring for each processor. Threads and processes that watched threads make are watched
 * as well. A record that finds no room in a ring is lost, and the loss is reported.
 *
 * Not thread-safe. Allocates (common/alloc.h).
 */
#ifndef FLAME_TRACER_NOSTOP_SWITCHRINGS_H
#define FLAME_TRACER_NOSTOP_SWITCHRINGS_H

#include "common/strbuf.h"
#include "tracer/nostop/switchrecord.h"

struct switch_rings;

/* Watches no thread yet. */
struct switch_rings *switch_rings_new(void);
void switch_rings_free(struct switch_rings *r);

/* Watches a thread, from now on. 0; -ESRCH: it has ended; another -errno: the kernel refuses, and
 * *why (which must be empty) gets the reason. */
int switch_rings_add(struct switch_rings *r, pid_t tid, struct strbuf *why);

/*
 * Returns all records since the last call, ordered by time (CLOCK_MONOTONIC); *n is their number;
 * borrowed until the next call. Records that two processors wrote at the same time may come in the
 * next call (switch_intervals.h). A damaged ring is reported once and skipped from then on.
 */
const struct switch_record *switch_rings_read(struct switch_rings *r, size_t *n);

#endif
