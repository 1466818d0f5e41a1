/*
 * trace_merge.h: memory traces added up, by what their stacks mean.
 *
 * A build leaves thousands of traces, mostly of the same programs in the same stacks. Here
 * each is added to what is there of its program and can be forgotten: an address becomes
 * the file it is in and the place there, so equal stacks are equal wherever the file was
 * mapped. What comes out are traces again, one a program (with its ancestors, if it has any:
 * fold/analysis/process_tree.h), with the sums: any view of them is that of all traces together.
 * Memory is that of the distinct stacks.
 *
 * Of processes that looked for leaks, what is live and no verdict names becomes rows of
 * TRACE_ROW_REACHED.
 *
 * Not thread-safe.
 */
#ifndef FLAME_COMMON_TRACE_TRACE_MERGE_H
#define FLAME_COMMON_TRACE_TRACE_MERGE_H

#include "common/trace/trace_reader.h"

struct trace_merge_options {
    bool pid;     /* processes stay apart */
    bool threads; /* threads stay apart, and have their names */
    bool own;     /* inherited rows are left out */
    /* Whether code of this process that is in no file has names (which are its own); then
       the process stays apart. NULL: no. */
    bool (*has_names)(uint32_t pid);
};

struct trace_merge;

struct trace_merge *trace_merge_new(const struct trace_merge_options *o);
void trace_merge_free(struct trace_merge *m); /* NULL is allowed */

/* Adds a trace and frees it; one that cannot be added, as it is no memory trace or has
 * texts of its own, is kept as it is. */
void trace_merge_add(struct trace_merge *m, struct trace *t);

/* Adds those of its rows that have one of these flags, and leaves it to the caller; nothing if
 * it cannot be added. */
void trace_merge_add_flagged(struct trace_merge *m, const struct trace *t, uint16_t flags);

/* The traces that came of it, in the order in which their programs came first; lent until the
 * next call. */
struct trace *const *trace_merge_result(struct trace_merge *m, size_t *n);

/* The program's name, which is that of a memory trace's root. */
const char *trace_program(const struct trace *t);

#endif
