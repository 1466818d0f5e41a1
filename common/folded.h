/*
 * folded.h: folded stacks, the text the stages meet in.
 *
 * A line is `frame;frame;frame COUNT` (root first), or two counts for a difference. Grammar as
 * Brendan Gregg's flamegraph.pl reads it: the last blank-separated token is the count if it is
 * digits with an optional fraction; if the text before it ends in such a token too, that one is the
 * first count of a differential line. Beyond that we accept CRLF and blanks at the end of a line,
 * and count the lines that were not understood.
 *
 * One comment is ours: a line "# flame: view=live unit=bytes" of blank-separated key=value words
 * describes the counts to a later stage, so that a pipe needs no options. It never ends in a count,
 * so other readers skip it. Lines that begin with "# " and have no count are comments.
 */
#ifndef FLAME_COMMON_FOLDED_H
#define FLAME_COMMON_FOLDED_H

#include <stdbool.h>

#include "common/strbuf.h"

/*
 * A count: whole + part, 0 <= part < 1. Two fields because counts of bytes and nanoseconds go
 * beyond 2^53, where a double no longer distinguishes neighbours. A count that does not fit 64 bits
 * saturates at UINT64_MAX.
 */
struct folded_count {
    uint64_t whole;
    double part;
};

struct folded_line {
    const char *stack; /* not NUL-terminated; points into the line */
    size_t len;
    struct folded_count count;  /* the second count of a differential line, else the only one */
    struct folded_count count1; /* the first count of a differential line, else equal to count */
    bool differential;
    size_t one_len; /* how long the stack is if the last number alone is a count */
};

static inline double folded_count_double(struct folded_count c)
{
    return (double)c.whole + c.part;
}

/*
 * Parses one line [s, s+len) without its newline. Returns 1 for a stack line,
 * 0 for a comment or blank line, -1 for one that was not understood.
 */
int folded_parse_line(const char *s, size_t len, struct folded_line *out);

/*
 * Limit of frames in a stack for all stages: a line of nothing but ';' would take a hundred times
 * its size in memory. A program's stack of 8 MiB has a tenth of them.
 */
#define FOLDED_FRAMES_MAX (4u << 20)
#define FOLDED_TOO_DEEP "has more than 4194304 frames, the most a stack may have"

/* Whether the stack s[0..len) has more frames; empty frames at its end do not count. */
bool folded_is_too_deep(const char *s, size_t len);

/*
 * Whether a name ends like a count ("read 4096"): at the end of a stack it would be
 * taken for one.
 */
bool folded_ends_in_count(const char *name, size_t len);

/* A key of such lines: the sum of the counts that filters removed from the text. */
#define FOLDED_LEFT_OUT "left-out"

/*
 * A line of its own, "# flame: modules=...", says how the names below it carry their module.
 * "prefix": before the name, "libc.so.6`malloc", as DTrace has it, which any reader can show.
 * "marked": behind the name, after a byte that no other text has (fold/stacks/place.h), in text
 * between flame's own stages.
 */
#define FOLDED_MODULES "modules"
#define FOLDED_MODULES_PREFIX "prefix"
#define FOLDED_MODULES_MARKED "marked"

/*
 * Finds `key` in a "# flame: key=value ..." line. True: *value and *value_len
 * say where its value lies in s (borrowed).
 */
bool folded_find_meta(const char *s, size_t len, const char *key, const char **value,
                      size_t *value_len);

/*
 * Appends a frame's name made safe for folded text: ';' becomes ':', control
 * characters (newline, CR, tab, NUL...) become a blank, invalid UTF-8 bytes
 * become U+FFFD. A name that ends like a count ("read 4096") gets a '_' for that
 * blank, or a reader would take the line for a differential one. An empty name
 * stays empty.
 */
void folded_add_frame(struct strbuf *sb, const char *name, size_t len);

/* *a += b, saturating at UINT64_MAX. */
void folded_count_add(struct folded_count *a, struct folded_count b);

/* Appends a count as folded text has it: all digits, a fraction with at most 15. */
void folded_add_count(struct strbuf *sb, struct folded_count c);

#endif
