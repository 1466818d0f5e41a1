/*
 * switchrings.h: when threads of other processes leave their processors and come to one, as the
 * kernel tells it (perf_event_open(2), context_switch): no stop, no signal, nothing inside of the
 * program. It needs no privilege where kernel.perf_event_paranoid is 2 or less.
 *
 * There is a ring for each processor. Threads and processes that those watched make are watched as
 * well. What finds no room in a ring is lost, and told.
 *
 * Not thread-safe. Allocates (common/alloc.h).
 */
#ifndef FLAME_TRACER_NOSTOP_SWITCHRINGS_H
#define FLAME_TRACER_NOSTOP_SWITCHRINGS_H

#include "common/strbuf.h"
#include "tracer/nostop/switchrecord.h"

struct switch_rings;

/* Nobody is watched yet. */
struct switch_rings *switch_rings_new(void);
void switch_rings_free(struct switch_rings *r);

/* Watches a thread, from now on. 0; -ESRCH: it has ended; another -errno: the kernel refuses, and
 * *why (which must be empty) says what. */
int switch_rings_add(struct switch_rings *r, pid_t tid, struct strbuf *why);

/*
 * All that was told since the last call, in the order of the times (those of CLOCK_MONOTONIC); *n
 * of them, borrowed until the next call. What two processors told at the same time may come in the
 * next one (switch_intervals.h). A ring that is damaged is told once and passed over from then on.
 */
const struct switch_record *switch_rings_read(struct switch_rings *r, size_t *n);

#endif
