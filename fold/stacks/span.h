/*
 * span.h: pieces of a line, for the readers of other profilers' text.
 *
 * A span borrows its bytes and may be empty; none of these functions allocates.
 * Digits, blanks and words are ASCII's. Pure functions, thread-safe.
 */
#ifndef FLAME_FOLD_STACKS_SPAN_H
#define FLAME_FOLD_STACKS_SPAN_H

#include <stdbool.h>

#include "common/compiler.h"

struct span {
    const char *s;
    size_t len;
};

static inline struct span span_of(const char *s)
{
    return (struct span){s, strlen(s)};
}

/* The rest behind the first n bytes; n may be too large. */
static inline struct span span_from(struct span s, size_t n)
{
    n = n < s.len ? n : s.len;
    return n ? (struct span){s.s + n, s.len - n} : s;
}

static inline struct span span_to(struct span s, size_t n)
{
    return (struct span){s.s, n < s.len ? n : s.len};
}

static inline bool span_is(struct span s, const char *what)
{
    size_t n = strlen(what);

    return s.len == n && memcmp(s.s, what, n) == 0;
}

static inline bool span_begins(struct span s, const char *what)
{
    size_t n = strlen(what);

    return s.len >= n && memcmp(s.s, what, n) == 0;
}

static inline bool span_ends(struct span s, const char *what)
{
    size_t n = strlen(what);

    return s.len >= n && memcmp(s.s + s.len - n, what, n) == 0;
}

/* The first occurrence of `what`, or NULL. */
const char *span_find(struct span s, const char *what);

/* Offset of the first/last `ch`, or SIZE_MAX. */
static inline size_t span_chr(struct span s, char ch)
{
    const char *at = s.len ? memchr(s.s, ch, s.len) : NULL;

    return at ? (size_t)(at - s.s) : SIZE_MAX;
}

size_t span_rchr(struct span s, char ch);

/* Offset of the last '(' that is the first byte or follows a blank, or SIZE_MAX. */
size_t span_last_open(struct span s);

static inline bool is_blank_ch(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline bool is_digit_ch(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool is_hex_ch(char c)
{
    return is_digit_ch(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static inline bool is_word_ch(char c)
{
    return is_digit_ch(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Number of bytes at the front that are blanks, not blanks, digits, hex digits, part of a word. */
static inline size_t span_blanks(struct span s)
{
    size_t i = 0;

    while (i < s.len && is_blank_ch(s.s[i]))
        i++;
    return i;
}

static inline size_t span_token(struct span s)
{
    size_t i = 0;

    while (i < s.len && !is_blank_ch(s.s[i]))
        i++;
    return i;
}

static inline size_t span_digits(struct span s)
{
    size_t i = 0;

    while (i < s.len && is_digit_ch(s.s[i]))
        i++;
    return i;
}

static inline size_t span_hex(struct span s)
{
    size_t i = 0;

    while (i < s.len && is_hex_ch(s.s[i]))
        i++;
    return i;
}

static inline size_t span_word(struct span s)
{
    size_t i = 0;

    while (i < s.len && is_word_ch(s.s[i]))
        i++;
    return i;
}

static inline struct span span_ltrim(struct span s)
{
    return span_from(s, span_blanks(s));
}

static inline struct span span_rtrim(struct span s)
{
    while (s.len && is_blank_ch(s.s[s.len - 1]))
        s.len--;
    return s;
}

static inline struct span span_trim(struct span s)
{
    return span_ltrim(span_rtrim(s));
}

/* Takes the blanks (no tabs) off the front of *s; returns how many. */
static inline size_t span_indent(struct span *s)
{
    size_t n = 0;

    while (n < s->len && s->s[n] == ' ')
        n++;
    *s = span_from(*s, n);
    return n;
}

/* Takes the next word between blanks off the front of *s; empty at the end. */
static inline struct span span_next(struct span *s)
{
    struct span rest = span_ltrim(*s), word = span_to(rest, span_token(rest));

    *s = span_from(rest, word.len);
    return word;
}

/* The next line of a text cut anywhere; false at its end. For probes. */
static inline bool span_line(struct span *text, struct span *line)
{
    size_t nl;

    if (text->len == 0)
        return false;
    nl = span_chr(*text, '\n');
    *line = span_to(*text, nl);
    *text = span_from(*text, line->len + 1);
    if (line->len && line->s[line->len - 1] == '\r')
        line->len--;
    return true;
}

#endif
