/*
 * busguard.h: a trace that somebody cuts short while it is written does not end the process that
 * writes it.
 *
 * Whoever touches a mapping behind the end of its file gets SIGBUS. If the address is in a trace
 * that is guarded, memory that nobody reads takes the place of the file (trace_writer_detach), and
 * its writer goes on, for nobody. Any other SIGBUS does what it did before the first was guarded.
 *
 * The handler is for the whole process, and stays. Not thread-safe, but for the handler. The thread
 * that adds a trace is the one that writes to it: its signal mask is made to let SIGBUS by.
 */
#ifndef FLAME_TRACER_TRACE_BUSGUARD_H
#define FLAME_TRACER_TRACE_BUSGUARD_H

#include "common/trace/trace_writer.h"

struct busguard {
    struct trace_writer *writer;
    struct busguard *next;
};

/* Both are the caller's until busguard_drop. */
void busguard_add(struct busguard *g, struct trace_writer *writer);
void busguard_drop(const struct busguard *g);

#endif
