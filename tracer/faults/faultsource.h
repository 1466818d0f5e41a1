/*
 * faultsource.h: the page faults of a process and of all that it forks and executes, as the kernel
 * tells them (perf_event_open(2)): no stop, no signal, nothing inside of the program.
 *
 * There is a ring for each processor, into which the kernel writes registers and a part of the
 * stack with each fault. Records come out in the order of their times, and whatever happened
 * before another thing comes before it. What finds no room in a ring is lost, and counted: the
 * kernel does not wait for the reader.
 *
 * Faults that the kernel takes itself, where a system call fills memory that nobody has touched,
 * are told to those only who may look into the kernel (CAP_PERFMON, or perf_event_paranoid below
 * 2); without that right nobody counts them, and fault_source_all says so.
 *
 * Not thread-safe. Allocates (common/alloc.h).
 */
#ifndef FLAME_TRACER_FAULTS_FAULTSOURCE_H
#define FLAME_TRACER_FAULTS_FAULTSOURCE_H

#include <sys/types.h>

#include "common/strbuf.h"
#include "tracer/faults/faultrecord.h"

struct fault_source;

struct fault_wishes {
    uint32_t stack;  /* bytes of the stack with each fault, a multiple of 8 below 64 KiB; 0: none */
    size_t ring;     /* bytes of each ring, at most: a user may have less */
    bool after_exec; /* faults count from the process's next exec on, or from now */
    bool user_only;  /* none of the kernel's, whatever is allowed */
};

/*
 * NULL where the kernel refuses: *why is then what it refuses and what can be done about it, for
 * the end of a line. `pid` must be the caller's child, or one it may trace, and have one thread,
 * as others that are there already are not followed.
 */
struct fault_source *fault_source_open(pid_t pid, const struct fault_wishes *w, struct strbuf *why);
void fault_source_close(struct fault_source *s);

/* Waits until rings are a quarter full, or all of those followed have ended, or `ms` are over. */
void fault_source_wait(struct fault_source *s, int ms);

/*
 * The next record. FAULT_NONE: nothing that was there when the last round began is left. FAULT_LOST
 * comes for each ring by itself. A ring that is damaged is told once and passed over from then on.
 * What *out points to is valid until the next call.
 */
enum fault_kind fault_source_next(struct fault_source *s, struct fault_record *out);

/* Whether a FAULT_PAGE is a major fault: one that had to wait for a disk. */
bool fault_source_is_major(const struct fault_source *s, const struct fault_record *r);

/* Whether the kernel's own faults are among them. */
bool fault_source_all(const struct fault_source *s);

/* What the kernel has counted: records that were written and those that were lost. */
void fault_source_counted(const struct fault_source *s, uint64_t *minor, uint64_t *major);

/* Bytes of each ring. */
size_t fault_source_ring(const struct fault_source *s);

#endif
