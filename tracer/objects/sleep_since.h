/*
 * sleep_since.h: the time at which a sleeping thread last ran, which is the start of its sleep.
 *
 * The scheduler records it (se.exec_start of /proc/TID/sched), on a clock that each CPU has for
 * itself. That clock stops while a hypervisor has taken the CPU away, or, on some kernels, while
 * the CPU serves interrupts. So this process visits the CPU in question once, to compare its clock
 * with CLOCK_MONOTONIC, which takes 50 us and on a loaded machine some milliseconds.
 *
 * Not thread-safe: the affinity of the calling thread changes and changes back.
 */
#ifndef FLAME_TRACER_OBJECTS_SLEEP_SINCE_H
#define FLAME_TRACER_OBJECTS_SLEEP_SINCE_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/compiler.h"

struct sleep_since;

struct sleep_since *sleep_since_new(void);
void sleep_since_free(struct sleep_since *l);

/* Time in ns of CLOCK_MONOTONIC. Without `visit` only for threads that have not run since their CPU
 * was visited. It is never before the thread really ran. It is later than that by the time for
 * which the CPU was taken away between then and the visit. False: unknown; the kernel does not
 * record it, or this process may not run where the thread did. */
bool sleep_since_ns(struct sleep_since *l, pid_t tid, bool visit, uint64_t *ns);

#endif
