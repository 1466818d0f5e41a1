/*
 * columns.h: whether the lines of a folded text have one count or two.
 *
 * A name may end in a number: "thread 1234 5" is a stack of one frame, or a line of a comparison.
 * The other lines of the text decide which. flame writes no name that ends in a number
 * (folded_add_frame), so a text with its heading is read as it is written.
 *
 * Not thread-safe for one object.
 */
#ifndef FLAME_COMMON_FOLDED_COLUMNS_H
#define FLAME_COMMON_FOLDED_COLUMNS_H

#include "common/folded.h"

/* Number of bytes of a text that are scanned for that. */
#define FOLDED_COLUMNS_LOOK 65536u

enum folded_columns_kind {
    FOLDED_AS_WRITTEN, /* each line decides for itself */
    FOLDED_ONE,        /* of two numbers at the end the first is a part of the name */
    FOLDED_TWO,        /* a line of one count is not understood */
};

struct folded_columns {
    enum folded_columns_kind kind;
    uint64_t joined, joined_line; /* lines of two numbers that were read as one count, and the
                                     number of the first such line */
    struct strbuf text;           /* of the last such line */
};

/* Begins a text, of which `text` is the beginning, cut anywhere: FOLDED_ONE, or FOLDED_TWO if more
 * than half of its stacks have two counts. */
void folded_columns_begin(struct folded_columns *c, const char *text, size_t len);
void folded_columns_release(struct folded_columns *c);

/* folded_parse_line of the line with that number; out->stack lies in it, or is borrowed until the
 * next call, and ends before the line's last count. */
int folded_columns_parse(struct folded_columns *c, const char *s, size_t len, uint64_t number,
                         struct folded_line *out);

/*
 * Judges a text that was read: `unknown` lines are no stacks, `stacks` lines are. Returns 0, or
 * FLAME_USAGE if the latter are fewer, after an error line that shows the first unknown line,
 * `first`, whose number is `number`.
 */
int folded_refuse_foreign(const char *name, uint64_t stacks, uint64_t unknown, uint64_t number,
                          const char *first);

/* Reports on standard error which lines of the text `name` were joined, if any. */
void folded_columns_say(const struct folded_columns *c, const char *name);

#endif
