/*
 * lanetext.h: threads' waits over time, as comments in folded text (flame-folded(5)), for the
 * lanes of a page.
 *
 * Readers of folded text that draw no lanes skip the comments. The comments take no more than
 * `most_bytes`: if there is more, short waits of one row that lie close together become one, as
 * in the recorder when its room is full (common/trace/trace_intervals.h), and a comment has the
 * length up to which waits are short.
 */
#ifndef FLAME_FOLD_LANETEXT_H
#define FLAME_FOLD_LANETEXT_H

#include "fold/fold_options.h"
#include "fold/symbolize.h"
#include "fold/filter_report.h"
#include "fold/analysis/chainsplit.h"

/* Limits for intervals, before they become text: for a page, and for files of other viewers. */
#define LANETEXT_BYTES ((size_t)3 << 20)
#define LANETEXT_EXPORT_BYTES ((size_t)16 << 20)

struct lanetext_input {
    const struct fold_options *opt;
    struct trace *const *traces;
    struct symbolizer *const *frames; /* by trace */
    struct idle *const *idle;         /* by trace; NULLs: no sleeps are left out */
    struct chainsplit *const *split;  /* by trace; NULLs: its chains are not split */
    size_t ntraces;
    const struct view *const *views; /* the views that the text has */
    size_t nviews;
    struct excludes *excludes;
    struct aggregate *to;
    size_t most_bytes; /* 0: LANETEXT_BYTES */
};

/* Emits the lines, each as a whole; none where no trace has intervals. The aggregate's sums are
 * lost. */
void lanetext_write(const struct lanetext_input *in, aggregate_sink sink, void *opaque);

#endif
