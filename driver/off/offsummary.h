/*
 * offsummary.h: the few lines at the end of `flame off`.
 */
#ifndef FLAME_DRIVER_OFF_OFFSUMMARY_H
#define FLAME_DRIVER_OFF_OFFSUMMARY_H

#include "driver/run/recording.h"

/* Appends the part of folded text of all views that is this view's, with its header. */
void off_summary_section(const struct strbuf *all, const char *view, struct strbuf *out);

/*
 * Prints on standard error: the traced time, the sleepers and their times, the largest waits, the
 * lock that cost most and its holder, the cost of tracing and the events it missed. `subject` is
 * the traced command if the trace has none, `all` the folded text of all views, after filters.
 * `shown_ns` is the length of the part that is shown (--last), or 0.
 */
void off_summary_print(const struct recording *r, const char *subject, uint64_t shown_ns,
                       const struct strbuf *all);

#endif
