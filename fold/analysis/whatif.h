/*
 * whatif.h: how much shorter the critical path could be if some waits had been shorter.
 *
 * A rule, "REGEX=PART", selects waits by the frames of their stacks, by the stacks' text ("a;b;c")
 * and by what they wait for, and says which part of their time remains. The gain is a bound, see
 * retime.h and critpath.h: it is what both allow.
 *
 *    ownership  a rule borrows its text and owns its pattern
 *    threads    none: one object is one thread's
 *    times      nanoseconds
 */
#ifndef FLAME_FOLD_ANALYSIS_WHATIF_H
#define FLAME_FOLD_ANALYSIS_WHATIF_H

#include "common/options/opts.h"
#include "fold/analysis/critpath.h"
#include "fold/stacks/pattern.h"

#define WHATIF_RULES_MAX 15u

struct whatif_rule {
    const char *text; /* "REGEX=0.5" */
    struct pattern *pattern;
    double part; /* 0 to 1: what remains of each wait */
};

/* All zero: there are none. */
struct whatif_rules {
    struct whatif_rule *rule;
    size_t n;
};

/* The value of --what-if, one more rule in a struct whatif_rules. */
opts_take whatif_take;
void whatif_rules_release(struct whatif_rules *r);

/* Whether a name or a stack's text matches, with or without its last annotation (_[k]). A pattern
 * that reaches its bound does not match. */
bool whatif_matches(const struct whatif_rule *r, const char *name, size_t len);

struct whatif_result {
    uint64_t gain_ns; /* how much shorter the path could be at most */
    uint64_t path_ns; /* part of the path that is in the selected waits */
    uint64_t waits;   /* selected waits on the path, also those through which it goes to a waker */
    uint64_t all;     /* selected waits of the recording */
    uint64_t all_ns;  /* their time, asleep and then waiting for a CPU */
    uint32_t last;    /* see retime.h; 0: none ends behind the path, or it is not asked for */
    uint64_t last_gain_ns;
};

struct whatif_paths {
    const struct trace *t;
    struct critpath *walker;
    const struct critpath_range *ranges; /* settled */
    size_t n;
    bool whole; /* the path is that of the run: threads that end by themselves are compared */
};

/* Part of a wait that no rule selects. */
#define WHATIF_NOT_SELECTED 2.0

/* Tries one selection. `part` has, by row, what remains of a wait of that row, from 0 to 1; or
 * WHATIF_NOT_SELECTED. */
void whatif_try(const struct whatif_paths *p, const double *part, struct whatif_result *result);

/* Time on CPUs of all threads in a range. */
uint64_t whatif_cpu(const struct trace *t, const struct critpath_range *range);

#endif
