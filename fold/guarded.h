/*
 * guarded.h: folding where a crash does no harm.
 */
#ifndef FLAME_FOLD_GUARDED_H
#define FLAME_FOLD_GUARDED_H

#include "fold/fold.h"

/* Does the folding and hands the text to `sink`; 0 or an enum flame_exit. */
typedef int (*guarded_work)(const struct fold_options *opt, struct trace *const *traces,
                            size_t ntraces, aggregate_sink sink, void *opaque);

/*
 * Runs `work` in a child process and hands its text on. When the child dies while
 * it reads a module's debug information, that is said in a line on standard error
 * and the work is begun again without that module's. If fork fails, the work is done in
 * this process, without any debug information. Returns what work returned, or FLAME_FAILED.
 */
int guarded_fold(const struct fold_options *opt, struct trace *const *traces, size_t ntraces,
                 aggregate_sink sink, void *opaque, guarded_work work);

#endif
