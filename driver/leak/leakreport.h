/*
 * leakreport.h: the result of `flame leak` in formats that test suites and code hosts read.
 *
 * A format is a file report_NAME.c with one function that appends the whole report, and a row of
 * leak_formats. Names in a report are outside input, any bytes: each format escapes them.
 *
 * Not thread-safe.
 */
#ifndef FLAME_DRIVER_LEAK_LEAKREPORT_H
#define FLAME_DRIVER_LEAK_LEAKREPORT_H

#include "driver/leak/leakgroups.h"
#include "driver/leak/misuselist.h"

struct leak_report_process {
    uint32_t pid;
    const char *name, *program; /* the name it has, the file it executes */
    bool looked;                /* it was scanned at its end */
};

struct leak_report {
    const char *name;     /* of the test */
    char *const *command; /* NULL at its end */
    uint64_t started;     /* seconds since 1970 */
    uint64_t elapsed_ns;
    int status;  /* the command's status; 128 + the signal if one ended it */
    int signal;  /* 0: none */
    bool look;   /* processes scan for leaks at their ends; false: --live or --growth */
    bool growth; /* --growth */
    bool over;   /* there is more than is allowed */
    uint64_t max_bytes,
        max_blocks; /* UINT64_MAX: no such limit; without both limits no leak is allowed */
    const struct leak_list *leaks;     /* borrowed, as all here */
    const struct leak_groups *groups;  /* groups of these leaks */
    const struct misuse_list *misuses; /* NULL: misuses were not checked */
    const struct leak_report_process *processes;
    size_t nprocesses;
    const char *not_recorded; /* text: programs that left no trace, and why; "": none */
    const char *doubts;       /* why there may be more leaks than were found, for people: a test
                               * that has not failed has not passed either; "": no reason */
    const char *unchecked;    /* text: processes that were not checked, and why; "": none */
    bool command_checked;     /* the command itself was checked */
    bool unchecked_fails;     /* a test with unchecked processes does not pass */
};

enum leak_format_id {
    LEAK_JSON,
    LEAK_TAP,
    LEAK_JUNIT,
    LEAK_SARIF,
    LEAK_GITHUB,
    LEAK_GITLAB,
    LEAK_FORMATS
};

typedef void leak_report_add(struct strbuf *sb, const struct leak_report *r);

struct leak_format {
    const char *option; /* "tap": --tap FILE */
    const char *ending; /* of a file in a directory: ".tap" */
    leak_report_add *add;
};

extern const struct leak_format leak_formats[LEAK_FORMATS];

leak_report_add report_json, report_tap, report_junit, report_sarif, report_github, report_gitlab;

/* ---- for the formats ---- */

/* Appends "100 bytes 2 blocks allowed": the limits. */
void leak_report_add_allowed(struct strbuf *sb, const struct leak_report *r);
/* Appends "12 bytes in 1 block leaked, 0 bytes allowed": the verdict in one line. */
void leak_report_add_verdict(struct strbuf *sb, const struct leak_report *r);

/* Appends "status 0", "signal 9". */
void leak_report_add_end(struct strbuf *sb, const struct leak_report *r);

/* Whether nothing was found, but not all processes were checked. */
bool leak_report_is_unchecked(const struct leak_report *r);

/* The sums of one class. */
void leak_report_sum(const struct leak_report *r, enum leak_class class, uint64_t *bytes,
                     uint64_t *blocks);

/* Appends the text in s. Bytes that are no text and control characters become U+FFFD, as do format
 * characters that change the direction of text. `special` characters (ASCII) are handed to
 * `escape`; NULL: none. */
void leak_add_text(struct strbuf *sb, const char *s, const char *special,
                   void (*escape)(struct strbuf *sb, char c));

/* Appends "2026-11-22T05:45:33Z", or the time as another `format` has it (strftime, UTC). */
void leak_add_time(struct strbuf *sb, uint64_t seconds, const char *format);

#endif
