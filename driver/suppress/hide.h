/*
 * hide.h: which of the leaks that were found do not count: those that suppressions name, and
 * those that a baseline knows.
 *
 * What can be wrong with the files is found before the command runs. Afterwards the rows of
 * the traces are told apart by their stacks, and those that do not count become empty: views,
 * pictures and lists made of the traces then are without them. Not thread-safe.
 */
#ifndef FLAME_DRIVER_SUPPRESS_HIDE_H
#define FLAME_DRIVER_SUPPRESS_HIDE_H

#include "common/options/values.h"
#include "common/trace/trace_reader.h"

struct hide_options {
    struct opts_list suppressions; /* files */
    bool known;                    /* what flame knows of common libraries is hidden */
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

/* What counts as a leak. */
enum hide_what {
    HIDE_LEAKS, /* what processes and regions found at their ends */
    HIDE_LIVE,  /* all that is live at the end */
    HIDE_GROWTH,
};

/*
 * Reads the files that the options and the environment name and looks whether the new baseline
 * can be written. 0, or FLAME_USAGE after a line.
 * The options are borrowed until hide_free.
 */
int hide_prepare(struct hide **out, const struct hide_options *o, enum hide_what what);
void hide_free(struct hide *h); /* NULL is allowed */

/* The same leaks twice; with HIDE_LIVE only the sums. */
struct hide_traces {
    struct trace *const *sums; /* over all processes of a program */
    size_t nsums;
    struct trace *const *each; /* verdicts by process and thread */
    size_t neach;
};

/* Empties rows in both, which nobody else uses now, and writes the new baseline. 0, or an enum
 * flame_exit after a line. */
int hide_apply(struct hide *h, const struct hide_traces *in);

/* The rules, for who has other things than leaks to hide, and counts them there. */
struct suppressions;
struct suppressions *hide_rules(struct hide *h);

/* Says what was hidden by what, in some lines; and which rules matched nothing. */
void hide_tell(struct hide *h);

#endif
