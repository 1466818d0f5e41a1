/*
 * leak_filter.h: leaks that do not count: those that suppressions name, and those that a baseline
 * knows.
 *
 * All errors in the files are found before the command runs. Afterwards leaks are compared by their
 * stacks, and rows of the traces that do not count are emptied. So views, pictures and lists made
 * of the traces then are without them. Not thread-safe.
 */
#ifndef FLAME_DRIVER_SUPPRESS_LEAK_FILTER_H
#define FLAME_DRIVER_SUPPRESS_LEAK_FILTER_H

#include "common/options/values.h"
#include "common/trace/trace_reader.h"

struct hide_options {
    struct opts_list suppressions; /* files */
    bool known;                    /* leaks of common libraries that flame knows are suppressed */
    const char *baseline;          /* NULL: none */
    const char *write_baseline;    /* NULL: none is written */
    bool misuse;                   /* misuses of the allocator are looked for */
};

/* Rows of hide_options for an options table in which such a struct lies at `offset`. */
#define HIDE_ROWS(offset)                                                                          \
    {"suppressions", .arg = "FILE",                                                                \
     .help = "leave out the leaks that FILE names, which is as LeakSanitizer or valgrind has "     \
             "such files; several add up",                                                         \
     .take = opts_take_list, .at = (offset) + offsetof(struct hide_options, suppressions)},        \
        {"no-builtin-suppressions",                                                                \
         .help = "count the known leaks of common libraries and programs, too",                    \
         .take = opts_take_false, .at = (offset) + offsetof(struct hide_options, known)},          \
        {"baseline", .arg = "FILE", .help = "count only what is not in FILE, or more than there",  \
         .take = opts_take_text, .at = (offset) + offsetof(struct hide_options, baseline)},        \
    {                                                                                              \
        "write-baseline", .arg = "FILE",                                                           \
                          .help = "write what leaks now to FILE for --baseline; without that "     \
                                  "option, it then counts as known",                               \
                          .take = opts_take_text,                                                  \
                          .at = (offset) + offsetof(struct hide_options, write_baseline)           \
    }

struct hide;

/* The blocks that count as leaks. */
enum hide_what {
    HIDE_LEAKS, /* what processes and regions found at their ends */
    HIDE_LIVE,  /* all that is live at the end */
    HIDE_GROWTH,
};

/*
 * Reads the files that the options and the environment name, and checks that the new baseline can
 * be written. 0, or FLAME_USAGE after a line. The options are borrowed until hide_free.
 */
int hide_prepare(struct hide **out, const struct hide_options *o, enum hide_what what);
void hide_free(struct hide *h); /* NULL is allowed */

/* The leaks of a run, in two forms; with HIDE_LIVE only the sums. */
struct hide_traces {
    struct trace *const *sums; /* over all processes of a program */
    size_t nsums;
    struct trace *const *each; /* verdicts by process and thread */
    size_t neach;
};

/* Empties rows in both, which no other code may use meanwhile, and writes the new baseline. 0, or
 * an enum flame_exit after a line. */
int hide_apply(struct hide *h, const struct hide_traces *in);

/* The rules, for a caller that has misuses to suppress and counts them there. */
struct suppressions;
struct suppressions *hide_rules(struct hide *h);

/* Prints the amounts that each rule and the baseline suppressed, and the rules that matched
 * nothing. */
void hide_tell(struct hide *h);

#endif
