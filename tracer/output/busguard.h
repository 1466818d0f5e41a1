/*
 * busguard.h: guard for a process against a trace that is cut short while the process writes it.
 *
 * A store behind the end of a mapped file is a SIGBUS. If the address is in a guarded trace,
 * private memory takes the place of the file (trace_writer_detach), and the writer goes on without
 * a reader. Any other SIGBUS does what it did before the first trace was guarded.
 *
 * The handler is for the whole process, and stays. Not thread-safe, but for the handler. The thread
 * that adds a trace is the one that writes to it: its signal mask is made to let SIGBUS by.
 */
#ifndef FLAME_TRACER_OUTPUT_BUSGUARD_H
#define FLAME_TRACER_OUTPUT_BUSGUARD_H

#include "common/trace/trace_writer.h"

struct busguard {
    struct trace_writer *writer;
    struct busguard *next;
};

/* Both are the caller's until busguard_drop. */
void busguard_add(struct busguard *g, struct trace_writer *writer);
void busguard_drop(const struct busguard *g);

#endif
