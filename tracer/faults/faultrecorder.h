/*
 * faultrecorder.h: makes traces of page faults (TRACE_FEATURE_FAULTS) out of records: which stack
 * touched which pages first.
 *
 * It reads nothing but the records and files, because the processes may have ended when their
 * records are read. A stack is walked in the copy that the kernel made of it, with the mappings
 * recorded before it. A stack that is longer than the copy begins with TRACE_STACK_INCOMPLETE.
 *
 * Not thread-safe. Allocates (common/alloc.h).
 */
#ifndef FLAME_TRACER_FAULTS_FAULTRECORDER_H
#define FLAME_TRACER_FAULTS_FAULTRECORDER_H

#include "tracer/faults/faultrecord.h"

struct faultrecorder;

/*
 * Writes a trace for each program, by the name that processes have at exec, up to
 * FAULTRECORDER_PROGRAMS of them: the last one gets all further programs. They are called
 * faults-1.flame and so on in `dir`, which is absolute and borrowed. `depth`: most frames of a
 * stack.
 */
#define FAULTRECORDER_PROGRAMS 64
struct faultrecorder *faultrecorder_new(const char *dir, unsigned depth);
void faultrecorder_free(struct faultrecorder *f);

/* Handles a record; `major`: for a FAULT_PAGE. */
void faultrecorder_take(struct faultrecorder *f, const struct fault_record *r, bool major);

#endif
