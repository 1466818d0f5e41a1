/*
 * agent_trace.h: copies the agent's records to a trace.
 *
 * The agent's memory belongs to the process, so it is treated like all data from outside: numbers
 * are checked against their limits, and memory at its addresses is only read. The trace is complete
 * after each agent_trace_take. Not thread-safe.
 */
#ifndef FLAME_INJECT_AGENT_TRACE_H
#define FLAME_INJECT_AGENT_TRACE_H

#include "inject/allstop.h"
#include "inject/memory/procmem.h"
#include "tracer/stacks/image.h"

struct agent_state;
struct agent_trace;
struct page_tally;
struct space_place;

/* Makes the trace. NULL after an error line. `path`: a file that does not exist yet. `depth`: limit
 * of frames of a stack, of which the inner ones stay; 0: the agent's own limit. */
struct agent_trace *agent_trace_new(const char *path, pid_t pid, unsigned depth);
void agent_trace_free(struct agent_trace *t);

/* To be called when the process has other code mapped than before. */
void agent_trace_changed(struct agent_trace *t);
/* The file that is mapped at `addr`, with its unwind tables; *bias becomes address in memory minus
 * address in the file. NULL: there is none. Borrowed until agent_trace_changed. Adds the module to
 * the trace. */
const struct image *agent_trace_image(struct agent_trace *t, uintptr_t addr, uintptr_t *bias);

/* To be called while all threads are stopped: reads the list of threads, so that lanes get their
 * threads' names. */
void agent_trace_threads(struct agent_trace *t, const struct allstop *stop,
                         const struct procmem *m);

/* Whether a stopped thread has a frame in [start, end). */
bool agent_trace_passes(struct agent_trace *t, const struct procmem *m, pid_t tid,
                        const struct user_regs_struct *regs, uintptr_t start, uintptr_t end);

/* Adds new stacks, and reads all counters. The greatest sum of live bytes that it finds is the
 * trace's peak. False: the memory cannot be read. */
bool agent_trace_take(struct agent_trace *t, const struct agent_state *g, const struct procmem *m);

/* Adds a verdict on blocks of the agent's stack `row` (enum trace_row_flag). It is ignored if the
 * trace does not have that stack. */
void agent_trace_verdict(struct agent_trace *t, uint32_t row, uint16_t flag, uint64_t bytes,
                         uint64_t blocks);
/* Stores that all blocks have been looked at, and that the rest has no verdict. */
void agent_trace_leaks(struct agent_trace *t);

/* Adds resident and swapped pages of what the agent's stack `row` allocated, or of a part of the
 * process that is no stack's; `name`: "" for none. */
void agent_trace_stack_pages(struct agent_trace *t, uint32_t row, const struct page_tally *pages);
void agent_trace_part_pages(struct agent_trace *t, enum trace_memory_part part, const char *name,
                            const struct page_tally *pages);
/* Stores their sums. */
void agent_trace_resident(struct agent_trace *t, const struct trace_resident *sums);

/* ---- who keeps blocks ---- */

#define AGENT_TRACE_INNER 16u

/* From now on the inner frames of new stacks are kept for agent_trace_inner. */
void agent_trace_keep_inner(struct agent_trace *t);
/* The inner frames of the agent's stack `row`, innermost first: return addresses, or numbers of
 * names. *n is their number. */
const uint64_t *agent_trace_inner(const struct agent_trace *t, uint32_t row, size_t *n);
/* The name, if the frame is one; else NULL. */
const char *agent_trace_frame_name(const struct agent_trace *t, uint64_t frame, size_t *len);

/* Where `addr` lies. The path is borrowed until the next call. */
void agent_trace_where(struct agent_trace *t, uintptr_t addr, struct space_place *place);
/* Frames of a stopped thread, innermost first: addresses of code, with REMOTE_EXACT where they are
 * no return address, and stack pointers, NULL if these are not known. Borrowed until the next
 * call. */
const uintptr_t *agent_trace_walk(struct agent_trace *t, pid_t tid,
                                  const struct user_regs_struct *regs, const uintptr_t **sps,
                                  int *n);

/* Nodes for TRACE_ROW_KEPT, above `below`; 0 stands for the root of all of them. */
uint32_t agent_trace_keeper(struct agent_trace *t, uint32_t below, const char *name, size_t len);
uint32_t agent_trace_site(struct agent_trace *t, uint32_t below, uint64_t frame);
/* Adds a row; with node 0 it is only stored that there was a search. */
void agent_trace_kept(struct agent_trace *t, uint32_t node, uint64_t bytes, uint64_t blocks);

/* Stores which interpreter's functions have no names, as in struct trace_header. */
void agent_trace_unnamed_python(struct agent_trace *t, uint32_t unnamed);

/* Counts of calls that were skipped and lost, as of the last agent_trace_take. */
void agent_trace_losses(const struct agent_trace *t, uint64_t *skipped, uint64_t *lost);

/* Ends the trace, and stores in it how often the process was stopped. */
void agent_trace_end(struct agent_trace *t, uint64_t stops);

#endif
