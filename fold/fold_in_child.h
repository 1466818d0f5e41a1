/*
 * fold_in_child.h: folding that survives a crash in a reader of debug information.
 */
#ifndef FLAME_FOLD_FOLD_IN_CHILD_H
#define FLAME_FOLD_FOLD_IN_CHILD_H

#include "fold/aggregate.h"
#include "fold/fold_options.h"

/* Does the folding and emits the text to `sink`; 0 or an enum flame_exit. */
typedef int (*guarded_work)(const struct fold_options *opt, struct trace *const *traces,
                            size_t ntraces, aggregate_sink sink, void *opaque);

/*
 * Runs `work` in a child process and emits its text. When the child dies while it reads a
 * module's debug information, a line on standard error reports it, and the work begins again
 * without that module's. If fork fails, the work is done in this process, without any debug
 * information. Returns the result of `work`, or FLAME_FAILED.
 */
int fold_in_child(const struct fold_options *opt, struct trace *const *traces, size_t ntraces,
                  aggregate_sink sink, void *opaque, guarded_work work);

#endif
