/*
 * agent_trace.h: copies the agent's records into a trace.
 *
 * The agent's memory is the process's, so it is treated as all data from outside: numbers are
 * checked against what was announced, and addresses are only read at. The trace is complete after
 * each guesttrace_take. Not thread-safe.
 */
#ifndef FLAME_INJECT_AGENT_TRACE_H
#define FLAME_INJECT_AGENT_TRACE_H

#include "inject/allstop.h"
#include "inject/procmem.h"
#include "tracer/stacks/image.h"

struct gueststate;
struct guesttrace;

/* Makes the trace. NULL after a line. `path`: a file that is not there yet. `depth`: frames kept of
 * a stack, the inner ones; 0: all that the agent keeps. */
struct guesttrace *guesttrace_new(const char *path, pid_t pid, unsigned depth);
void guesttrace_free(struct guesttrace *t);

/* The process has other code mapped than before. */
void guesttrace_changed(struct guesttrace *t);
/* The file that is mapped at `addr`, with its unwind tables, and address in memory minus address in
 * the file; NULL: none. Borrowed until guesttrace_changed. Adds the module to the trace. */
const struct image *guesttrace_image(struct guesttrace *t, uintptr_t addr, uintptr_t *bias);

/* With all threads stopped: reads which threads there are, so that their lanes have their names. */
void guesttrace_threads(struct guesttrace *t, const struct allstop *stop, const struct procmem *m);

/* Whether a stopped thread has a frame in [start, end). */
bool guesttrace_passes(struct guesttrace *t, const struct procmem *m, pid_t tid,
                       const struct user_regs_struct *regs, uintptr_t start, uintptr_t end);

/* Takes new stacks, and all counters. False: the memory cannot be read. */
bool guesttrace_take(struct guesttrace *t, const struct gueststate *g, const struct procmem *m);

/* As of the last guesttrace_take. */
void guesttrace_losses(const struct guesttrace *t, uint64_t *skipped, uint64_t *lost);

/* The trace's end, and how often the process was stopped for it. */
void guesttrace_end(struct guesttrace *t, uint64_t stops);

#endif
