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
#include "fold/analysis/age_limits.h"
#include "fold/aggregate.h"
#include "fold/moments.h"
#include "fold/analysis/process_tree.h"
#include "fold/stacks/filter.h"
#include "fold/symbols/symbols.h"
#include "fold/viewtable.h"

struct fold_options {
    const char *view; /* one that view_find knows; NULL: the default of the trace's recorder */
    bool all_views;   /* every view the traces have, one after the other, each with its header */
    /* The views to write, instead of `view`; they need not be in the recorder's table; borrowed. */
    const struct view *views;
    struct fold_when *when;    /* the moment at which traces are read (moments.h); borrowed, and
                                  gets what was found; NULL: the end */
    bool pid;                  /* the root frame is comm-PID instead of comm */
    bool tid;                  /* a frame for the thread under the root */
    bool ancestors;            /* the frames of a process's ancestors under its root; memory */
    struct process_tree *tree; /* all processes; traces are placed among them as they are added up
                              (tracesums.h); borrowed; NULL: they are placed already */
    bool moments;              /* append what was live over time (timeline_text.h) and when threads
                                  waited (lanetext.h), for a page */
    bool no_header;            /* leave out the "# flame:" line */
    bool quiet;                /* report nothing of what is left out */
    bool no_hint;              /* do not suggest how more functions could have names */
    bool own;                  /* leave out what a forked child has of its parent's blocks */
    bool modules;              /* names carry their modules behind a mark, and a line says so
                                  (FOLDED_MODULES_MARKED); nothing where `place` is set */
    enum place_kind place;     /* names carry their place, for filters to read */
    const char *const *comms;  /* only threads with one of these names; borrowed */
    size_t ncomms;
    const char *const *excludes; /* no stacks with a frame one of these regular expressions */
    size_t nexcludes;            /* (POSIX, extended) matches */
    bool idle;                   /* off-CPU: leave out the sleeps that idle.h describes */
    bool propose_idle;           /* or propose to, where they are most of it */
    struct age_limits ages;      /* the limits of views short and old */
    struct symbol_options symbols;
};

/* Sets the options that the filters need: threads, processes, places. */
void fold_options_for(struct fold_options *opt, const struct filter *f);

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

/* Adds to a trace the stacks of the blocks that its process inherited; a second call does
 * nothing. Reports the origins that are missing. Keep `origins` from trace to trace. */
struct trace_origins;
void fold_inherit(const struct fold_options *opt, struct trace *t, struct trace_origins *origins);

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
    uint64_t sandbox_calls, sandbox_bytes;                      /* likewise */
    uint64_t paused_calls, paused_bytes, kept_snapshots, unkept_snapshots;
    uint64_t skipped; /* calls seen but not recorded */
    uint64_t fallback_stacks;
    uint64_t cost_ns; /* estimate of what recording took: its start, and all threads' events */
};

void fold_summary(const struct trace *t, struct fold_summary *s);

#endif
