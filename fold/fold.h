/*
 * fold.h: turns traces into folded stacks: the work of `flame fold`, for the driver and for
 * render to call.
 *
 * Functions that fail return an enum flame_exit, with one line already on standard error, and
 * emit nothing. Not thread-safe (libelf, libdwarf).
 */
#ifndef FLAME_FOLD_FOLD_H
#define FLAME_FOLD_FOLD_H

#include <stdbool.h>

#include "common/strbuf.h"
#include "common/trace/trace_reader.h"
#include "fold/aggregate.h"
#include "fold/fold_options.h"
#include "fold/moments.h"

/* Whether the trace has nothing for the requested view, which is no error if another trace of
 * the recording has. */
bool fold_may_lack(const struct fold_options *opt, const struct trace *t);

/* Folds loaded traces, which stay the caller's, into one text that is appended to `out`. */
int fold_loaded(const struct fold_options *opt, struct trace *const *traces, size_t ntraces,
                struct strbuf *out);

/* Like fold_loaded, but emits the text to `sink` piece by piece, so that it need not be in
 * memory. */
int fold_loaded_to(const struct fold_options *opt, struct trace *const *traces, size_t ntraces,
                   aggregate_sink sink, void *opaque);

/* Totals of a trace. Bytes and calls unless named otherwise. */
struct fold_summary {
    uint64_t alloc_bytes, alloc_calls; /* without inherited blocks */
    uint64_t free_bytes, free_calls;
    int64_t live_bytes, live_calls;
    int64_t peak_bytes, peak_calls; /* sums of the rows' shares */
    uint64_t temp_calls;
    uint64_t stacks;  /* different stacks with a row */
    uint64_t threads; /* recorded, also those that have ended */
    uint64_t lost_calls, lost_bytes, lost_frees, lost_mappings; /* as in trace_header */
    uint64_t sandbox_calls, sandbox_bytes;                      /* as in trace_header */
    uint64_t paused_calls, paused_bytes, kept_snapshots, unkept_snapshots;
    uint64_t skipped; /* calls seen but not recorded */
    uint64_t fallback_stacks;
    uint64_t cost_ns; /* estimate of the recorder's time: its start, and all threads' events */
};

void fold_summary(const struct trace *t, struct fold_summary *s);

#endif
