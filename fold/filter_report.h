/*
 * filter_report.h: the sums that filters take out of a view, and their report to the user.
 */
#ifndef FLAME_FOLD_FILTER_REPORT_H
#define FLAME_FOLD_FILTER_REPORT_H

#include <stdbool.h>

#include "common/strbuf.h"

/* Sums in the view's own terms, before they are scaled to its unit. */
struct filter_report {
    uint64_t total; /* without any filter */
    uint64_t comm, exclude, idle;
    size_t idle_threads;
    struct strbuf idle_names; /* names of some of these threads */
};

#define FILTER_REPORT_INIT                                                                         \
    {                                                                                              \
        .idle_names = STRBUF_INIT                                                                  \
    }

/* Extended regular expressions, compiled. */
struct excludes;

/* Compiles expressions. NULL after one line on standard error: one of them is not valid. */
struct excludes *excludes_new(const char *const *regexes, size_t n);
void excludes_free(struct excludes *e);
/* Whether one expression matches a frame's name, with or without its annotation (_[k]). A match
 * function for aggregate_exclude. */
bool excludes_match(void *excludes, const char *text, size_t len);

/* Prints one line on standard error if anything was left out. Sums are in `unit`s, or, with a
 * `scale` over 1, in nanoseconds, `scale` of which are one unit. */
void filter_report_print(const struct filter_report *l, const char *unit, uint32_t scale);
/* Prints one line that proposes --idle, if l->idle, in nanoseconds, is most of l->total. */
void filter_report_propose_idle(const struct filter_report *l);
void filter_report_release(struct filter_report *l);

#endif
