/*
 * framename.h: the parts of a frame's name: function, place and annotation, as in "parse
 * parser.c:123_[i]". Pure, thread-safe.
 */
#ifndef FLAME_RENDER_FRAMENAME_H
#define FLAME_RENDER_FRAMENAME_H

#include "common/strbuf.h"

struct framename {
    const char *function; /* all of it when there is no place; borrowed from the name */
    size_t function_len;
    const char *file; /* NULL: not known */
    size_t file_len;
    uint32_t line; /* 0: not known */
    char mark;     /* k, j, i, w or o of _[k]; 0: none */
};

/*
 * Splits a name. A place is the last word if it is FILE:LINE, and FILE has a '.' or a '/' in it,
 * and none of the characters that files rarely have and names of functions often.
 */
struct framename framename_split(const char *name, size_t len);

/* Appends the function and its annotation. */
void framename_add_function(struct strbuf *sb, const struct framename *f);

/*
 * Appends a name as one line of well-formed UTF-8: control characters become blanks; other
 * bytes, and characters that change the text's direction, become U+FFFD. No other character
 * changes.
 */
void framename_add_clean(struct strbuf *sb, const char *s, size_t len);

#endif
