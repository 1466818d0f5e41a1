/*
 * timeline_text.h: live memory over time, as comments in folded text (flame-folded(5)).
 *
 * An explorer draws them; all other readers of folded text skip them. The moments of all traces
 * are merged, and reduced until they take no more than TIMETEXT_BYTES and are no more than
 * TIMETEXT_MOMENTS. Neighbours become one moment; those that remain are exact.
 */
#ifndef FLAME_FOLD_TIMELINE_TEXT_H
#define FLAME_FOLD_TIMELINE_TEXT_H

#include "fold/fold_options.h"
#include "fold/symbolize.h"
#include "fold/filter_report.h"

#define TIMETEXT_MOMENTS 2000u
#define TIMETEXT_BYTES ((size_t)4 << 20) /* of changes, before they become text */

struct timeline_text_input {
    const struct fold_options *opt;
    struct trace *const *traces;
    struct symbolizer *const *frames; /* by trace */
    size_t ntraces;
    struct excludes *excludes;
    struct aggregate *to;
    size_t most_bytes; /* 0: TIMETEXT_BYTES; in tests less */
};

/* Emits the lines, each as a whole; none where no trace has moments. The aggregate's sums are
 * lost. */
void timeline_text_write(const struct timeline_text_input *in, aggregate_sink sink, void *opaque);

#endif
