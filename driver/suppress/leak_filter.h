/*
 * leak_filter.h: leaks that do not count: suppressed ones, and those in a baseline.
 *
 * All errors in the files are found before the command runs. Afterwards leaks are compared by their
 * stacks, and rows of the traces that do not count are emptied. So views, pictures and lists of
 * these traces do not have them. Not thread-safe.
 */
#ifndef FLAME_DRIVER_SUPPRESS_LEAK_FILTER_H
#define FLAME_DRIVER_SUPPRESS_LEAK_FILTER_H

#include "common/options/values.h"
#include "common/trace/trace_reader.h"

struct leak_filter_options {
    struct opts_list suppressions; /* files */
    bool known;                    /* leaks of common libraries that flame knows are suppressed */
    const char *baseline;          /* NULL: none */
    const char *write_baseline;    /* NULL: none is written */
    bool misuse;                   /* misuses of the allocator are checked */
};

/* Rows of leak_filter_options for an options table in which such a struct lies at `offset`. */
#define LEAK_FILTER_ROWS(offset)                                                                   \
    {"suppressions", .arg = "FILE",                                                                \
     .help = "leave out the leaks that FILE names, which is as LeakSanitizer or valgrind has "     \
             "such files; several add up",                                                         \
     .take = opts_take_list, .at = (offset) + offsetof(struct leak_filter_options, suppressions)}, \
        {"no-builtin-suppressions",                                                                \
         .help = "count the known leaks of common libraries and programs, too",                    \
         .take = opts_take_false, .at = (offset) + offsetof(struct leak_filter_options, known)},   \
        {"baseline", .arg = "FILE", .help = "count only what is not in FILE, or more than there",  \
         .take = opts_take_text, .at = (offset) + offsetof(struct leak_filter_options, baseline)}, \
    {                                                                                              \
        "write-baseline", .arg = "FILE",                                                           \
                          .help = "write what leaks now to FILE for --baseline; without that "     \
                                  "option, it then counts as known",                               \
                          .take = opts_take_text,                                                  \
                          .at = (offset) + offsetof(struct leak_filter_options, write_baseline)    \
    }

struct leak_filter;

/* The blocks that count as leaks. */
enum leak_filter_kind {
    LEAK_FILTER_LEAKS, /* leaks found at the ends of processes and regions */
    LEAK_FILTER_LIVE,  /* all that is live at the end */
    LEAK_FILTER_GROWTH,
};

/*
 * Reads the files that the options and the environment name, and checks that the new baseline can
 * be written. 0, or FLAME_USAGE after a line. The options are borrowed until leak_filter_free.
 */
int leak_filter_load(struct leak_filter **out, const struct leak_filter_options *o,
                     enum leak_filter_kind what);
void leak_filter_free(struct leak_filter *h); /* NULL is allowed */

/* The leaks of a run, in two forms; with LEAK_FILTER_LIVE only the sums. */
struct leak_filter_traces {
    struct trace *const *sums; /* over all processes of a program */
    size_t nsums;
    struct trace *const *each; /* verdicts by process and thread */
    size_t neach;
};

/* Empties rows in both, which no other code may use meanwhile, and writes the new baseline. 0, or
 * an enum flame_exit after a line. */
int leak_filter_apply(struct leak_filter *h, const struct leak_filter_traces *in);

/* The rules, for a caller that has misuses to suppress and counts them there. */
struct suppressions;
struct suppressions *leak_filter_rules(struct leak_filter *h);

/* Prints the amounts that each rule and the baseline suppressed, and the rules that matched
 * nothing. */
void leak_filter_print(struct leak_filter *h);

#endif
