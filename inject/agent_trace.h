/*
 * agent_trace.h: copies the agent's records into a trace.
 *
 * The agent's memory is the process's, so it is treated as all data from outside: numbers are
 * checked against what was announced, and addresses are only read at. The trace is complete after
 * each agent_trace_take. Not thread-safe.
 */
#ifndef FLAME_INJECT_AGENT_TRACE_H
#define FLAME_INJECT_AGENT_TRACE_H

#include "inject/allstop.h"
#include "inject/procmem.h"
#include "tracer/stacks/image.h"

struct agent_state;
struct agent_trace;

/* Makes the trace. NULL after a line. `path`: a file that is not there yet. `depth`: frames kept of
 * a stack, the inner ones; 0: all that the agent keeps. */
struct agent_trace *agent_trace_new(const char *path, pid_t pid, unsigned depth);
void agent_trace_free(struct agent_trace *t);

/* The process has other code mapped than before. */
void agent_trace_changed(struct agent_trace *t);
/* The file that is mapped at `addr`, with its unwind tables, and address in memory minus address in
 * the file; NULL: none. Borrowed until agent_trace_changed. Adds the module to the trace. */
const struct image *agent_trace_image(struct agent_trace *t, uintptr_t addr, uintptr_t *bias);

/* With all threads stopped: reads which threads there are, so that their lanes have their names. */
void agent_trace_threads(struct agent_trace *t, const struct allstop *stop,
                         const struct procmem *m);

/* Whether a stopped thread has a frame in [start, end). */
bool agent_trace_passes(struct agent_trace *t, const struct procmem *m, pid_t tid,
                        const struct user_regs_struct *regs, uintptr_t start, uintptr_t end);

/* Takes new stacks, and all counters. False: the memory cannot be read. */
bool agent_trace_take(struct agent_trace *t, const struct agent_state *g, const struct procmem *m);

/* As of the last agent_trace_take. */
void agent_trace_losses(const struct agent_trace *t, uint64_t *skipped, uint64_t *lost);

/* The trace's end, and how often the process was stopped for it. */
void agent_trace_end(struct agent_trace *t, uint64_t stops);

#endif
