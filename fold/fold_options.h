/*
 * fold_options.h: the options of a fold, for the parts of fold and its callers.
 *
 * Pointers are borrowed. The functions do not fail; any thread may call them.
 */
#ifndef FLAME_FOLD_FOLD_OPTIONS_H
#define FLAME_FOLD_FOLD_OPTIONS_H

#include <stdbool.h>

#include "fold/analysis/age_limits.h"
#include "fold/analysis/process_tree.h"
#include "fold/stacks/filter.h"
#include "fold/symbols/symbols.h"
#include "fold/viewtable.h"

struct fold_when; /* moments.h */

struct fold_options {
    const char *view; /* one that view_find knows; NULL: the default of the trace's recorder */
    bool all_views;   /* every view the traces have, one after the other, each with its header */
    /* The views to write, instead of `view`; they need not be in the recorder's table; borrowed. */
    const struct view *views;
    struct fold_when *when;    /* the moment at which traces are read (moments.h); borrowed, and
                                  gets the moments found; NULL: the end */
    bool pid;                  /* the root frame is comm-PID instead of comm */
    bool tid;                  /* a frame for the thread under the root */
    bool ancestors;            /* the frames of a process's ancestors under its root; memory */
    struct process_tree *tree; /* all processes; traces are placed among them as they are added up
                              (tracesums.h); borrowed; NULL: they are placed already */
    bool moments;              /* append what was live over time (timeline_text.h) and when threads
                                  waited (lanetext.h), for a page */
    size_t lane_bytes;         /* with `moments`: room for the times of waits; 0: what a page has
                                  (lanetext.h) */
    bool no_header;            /* leave out the "# flame:" line */
    bool quiet;                /* report nothing of what is left out */
    bool no_hint;              /* do not suggest how more functions could have names */
    bool own;                  /* leave out what a forked child has of its parent's blocks */
    bool modules;              /* names carry their modules behind a mark, and a line says so
                                  (FOLDED_MODULES_MARKED); nothing where `place` is set */
    enum place_kind place;     /* names carry their place, for filters to read */
    const char *const *comms;  /* only threads with one of these names; borrowed */
    size_t ncomms;
    const char *const *excludes; /* regular expressions (POSIX, extended); leave out stacks with a
                                    frame that one matches */
    size_t nexcludes;
    bool idle;              /* off-CPU: leave out the sleeps that idle.h describes */
    bool propose_idle;      /* off-CPU: propose `idle` if idle sleeps are most of the time */
    struct age_limits ages; /* the limits of views short and old */
    struct symbol_options symbols;
};

/* Sets the options that the filters need: threads, processes, places. */
void fold_options_for(struct fold_options *opt, const struct filter *f);

#endif
