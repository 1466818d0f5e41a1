/*
 * trace_merge.h: memory traces added up, by what their stacks mean.
 *
 * A build leaves thousands of traces, mostly of the same programs in the same stacks. Here each is
 * added to the sums of its program and can then be freed. An address becomes the file it is in and
 * the place there, so equal stacks are equal wherever the file was mapped. The results are traces
 * again, one a program (with its ancestors, if it has any: fold/analysis/process_tree.h), with the
 * sums: any view of them is that of all traces together. Memory grows with the number of distinct
 * stacks.
 *
 * In processes that scanned for leaks, live blocks without a verdict become rows of
 * TRACE_ROW_REACHED.
 *
 * Not thread-safe.
 */
#ifndef FLAME_COMMON_TRACE_TRACE_MERGE_H
#define FLAME_COMMON_TRACE_TRACE_MERGE_H

#include "common/trace/trace.h"

struct trace_merge_options {
    bool pid;     /* processes stay apart */
    bool threads; /* threads stay apart, and have their names */
    bool own;     /* inherited rows are skipped */
    /* Whether code of this process has names that are valid for this process only, because it is in
     * no file, or in one of a container: it is then not merged with others. NULL: no. */
    bool (*has_names)(const struct trace *t);
};

struct trace_merge;

struct trace_merge *trace_merge_new(const struct trace_merge_options *o);
void trace_merge_free(struct trace_merge *m); /* NULL is allowed */

/* Adds a trace and frees it. One that cannot be added, because it is no memory trace, is
 * stored unchanged. */
void trace_merge_add(struct trace_merge *m, struct trace *t);

/* Adds the rows that have one of these flags, and leaves the trace to the caller; adds nothing if
 * the trace cannot be added. */
void trace_merge_add_flagged(struct trace_merge *m, const struct trace *t, uint16_t flags);

/* The resulting traces, in the order in which their programs came first; borrowed until the next
 * call. */
struct trace *const *trace_merge_result(struct trace_merge *m, size_t *n);

#endif
