/*
 * faultsource.h: the page faults of a process and of all that it forks and executes, as the kernel
 * records them (perf_event_open(2)). Nothing stops the program, sends it a signal or runs inside
 * it.
 *
 * There is a ring for each processor, into which the kernel writes registers and a part of the
 * stack with each fault. Records come out in the order of their times, so a cause comes before its
 * effect. A record that finds no room in a ring is lost, and counted: the kernel does not wait for
 * the reader.
 *
 * The kernel takes some faults itself, where a system call fills memory that was never touched. It
 * records these only for callers that may trace the kernel (CAP_PERFMON, or perf_event_paranoid
 * below 2). Without that right they are not counted, and fault_source_all returns false.
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
    size_t ring;     /* bytes of each ring, at most: an unprivileged user may get less */
    bool after_exec; /* count from the process's next exec on; false: from now on */
    bool user_only;  /* filter out the kernel's own faults, even if they may be recorded */
};

/*
 * NULL where the kernel refuses: *why is then the refused right and how to get it, for the end of a
 * line. `pid` must be the caller's child or a process that the caller may trace. It must have one
 * thread, as other existing threads are not followed.
 */
struct fault_source *fault_source_open(pid_t pid, const struct fault_wishes *w, struct strbuf *why);
void fault_source_close(struct fault_source *s);

/* Waits until rings are a quarter full, or all followed processes have ended, or `ms` have
 * passed. */
void fault_source_wait(struct fault_source *s, int ms);

/*
 * The next record. FAULT_NONE: all records that existed when the last round began have been
 * returned. FAULT_LOST comes for each ring separately. FAULT_DAMAGED comes once for a damaged ring,
 * which is skipped from then on. *out points to memory that is valid until the next call.
 */
enum fault_kind fault_source_next(struct fault_source *s, struct fault_record *out);

/* Whether a FAULT_PAGE is a major fault: one that had to wait for a disk. */
bool fault_source_is_major(const struct fault_source *s, const struct fault_record *r);

/* Whether the kernel's own faults are recorded too. */
bool fault_source_all(const struct fault_source *s);

/* Faults that the kernel has counted: those it recorded and those it lost. */
void fault_source_counted(const struct fault_source *s, uint64_t *minor, uint64_t *major);

/* Bytes of each ring. */
size_t fault_source_ring(const struct fault_source *s);

#endif
