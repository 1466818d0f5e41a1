/*
 * fold.h: traces in, folded stacks out. What `flame fold` does, for the driver
 * and for render to call.
 *
 * Functions that fail return an enum flame_exit, with one line already on
 * standard error, and give out nothing. Not thread-safe (libelf, libdwarf).
 */
#ifndef FLAME_FOLD_FOLD_H
#define FLAME_FOLD_FOLD_H

#include <stdbool.h>

#include "common/strbuf.h"
#include "common/trace_reader.h"
#include "fold/aggregate.h"
#include "fold/filter.h"
#include "fold/symbols.h"

struct fold_options {
    const char *view; /* NULL: "alloc" or "off", as the trace is */
    bool all_views;   /* every view the traces have, one after the other, each with its header */
    bool pid;         /* the root frame is comm-PID instead of comm */
    bool tid;         /* a frame for the thread under the root */
    bool no_header;   /* leave out the "# flame:" line */
    bool quiet;       /* say nothing of what is left out */
    bool own;         /* leave out what a forked child has of its parent's blocks */
    enum place_kind place;    /* names carry their place, for filters to read */
    const char *const *comms; /* only threads with one of these names; borrowed */
    size_t ncomms;
    const char *const *excludes; /* no stacks with a frame one of these regular expressions */
    size_t nexcludes;            /* (POSIX, extended) matches */
    bool idle;                   /* of waiting: leave out what idle.h says */
    struct symbol_options symbols;
};

/* Asks for what these filters need to know: threads, processes, places. */
void fold_options_for(struct fold_options *opt, const struct filter *f);

/* Folds several traces into one text, appended to `out`. Paths as for trace_load. */
int fold_traces(const struct fold_options *opt, const char *const *paths, size_t npaths,
                struct strbuf *out);

/* The same piece by piece: a large trace's text need not be in memory. */
int fold_traces_to(const struct fold_options *opt, const char *const *paths, size_t npaths,
                   aggregate_sink sink, void *opaque);

/* fold_loaded's words handed to `sink` as they come, instead of kept in memory. */
int fold_loaded_to(const struct fold_options *opt, struct trace *const *traces, size_t ntraces,
                   aggregate_sink sink, void *opaque);

/* The same for traces already loaded; they stay the caller's. */
int fold_loaded(const struct fold_options *opt, struct trace *const *traces, size_t ntraces,
                struct strbuf *out);

/* One trace, everything else as by default. */
int fold_trace_to_folded(const char *path, const char *view, struct strbuf *out);

/* What a trace says in all. Bytes and calls unless named otherwise. */
struct fold_summary {
    uint64_t alloc_bytes, alloc_calls; /* without inherited blocks */
    uint64_t free_bytes, free_calls;
    int64_t live_bytes, live_calls;
    int64_t peak_bytes, peak_calls; /* sums of the rows' shares */
    uint64_t temp_calls;
    uint64_t stacks;                             /* different stacks with a row */
    uint64_t threads;                            /* recorded, also those that have ended */
    uint64_t lost_calls, lost_bytes, lost_frees; /* as in trace_header */
    uint64_t skipped;                            /* calls seen but not recorded */
    uint64_t fallback_stacks;
    uint64_t cost_ns; /* estimate of what recording took, all threads together */
};

void fold_summary(const struct trace *t, struct fold_summary *s);

#endif
