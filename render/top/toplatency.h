/*
 * toplatency.h: durations of each symbol's sleeps: p50, p95, p99 and the longest, from a tree
 * that has the view latency (common/trace/sleepclass.h) in a column.
 *
 * A symbol's sleeps are those of all stacks that it is on, each stack once, added up as a
 * histogram: so a percentile is that of all these sleeps, and no mean of percentiles. It is the
 * nearest rank: of n sleeps the one that is ceil(n * p / 100) in the order of their durations,
 * given as the middle of its class, which is within 1/16 of it, and never more than the longest,
 * which is exact. Sleeps of unknown duration are not included.
 */
#ifndef FLAME_RENDER_TOP_TOPLATENCY_H
#define FLAME_RENDER_TOP_TOPLATENCY_H

#include "render/input.h"
#include "render/top/toplist.h"

struct toplatency;

/* Width of the columns in a line. */
#define TOPLATENCY_WIDTH 44

/* NULL: the input has no such column behind its first, or nothing in it. It borrows the input. */
struct toplatency *toplatency_make(const struct input *in);
void toplatency_free(struct toplatency *l); /* NULL is allowed */

/* Sorts the rows by one of TOP_BY_P50 and so on, the largest first. */
void toplatency_sort(const struct toplatency *l, enum top_sort sort, struct top_row *rows,
                     size_t n);

/* Appends the headings, and a symbol's columns. */
void toplatency_add_columns(struct strbuf *sb);
void toplatency_add(const struct toplatency *l, uint32_t name, struct strbuf *sb);

/* Appends "; of 12 of 340 sleeps it is not known how long they took", or nothing. */
void toplatency_add_unknown(const struct toplatency *l, struct strbuf *sb);

#endif
