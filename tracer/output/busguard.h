/*
 * busguard.h: guard for a process against a trace that is truncated while the process writes it.
 *
 * A store beyond the end of a mapped file is a SIGBUS. If the address is in a guarded trace,
 * private memory replaces the file (trace_writer_detach), and the writer continues without a
 * reader. Any other SIGBUS has the effect that it had before the first trace was guarded.
 *
 * The handler is for the whole process, and stays. Not thread-safe, but for the handler. The thread
 * that adds a trace must be the one that writes to it: SIGBUS is unblocked in its signal mask.
 */
#ifndef FLAME_TRACER_OUTPUT_BUSGUARD_H
#define FLAME_TRACER_OUTPUT_BUSGUARD_H

#include "common/trace/trace_writer.h"

struct busguard {
    struct trace_writer *writer;
    struct busguard *next;
};

/* The caller owns both until busguard_drop. */
void busguard_add(struct busguard *g, struct trace_writer *writer);
void busguard_drop(const struct busguard *g);

#endif
