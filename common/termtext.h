/*
 * termtext.h: escapes the characters of a name that must not be sent to a terminal.
 *
 * Names come from outside: one may hold escape sequences, characters that turn the direction of
 * text, or bytes that are no text at all. All text for a terminal or standard error goes through
 * here: lines of error.h, of the recorder (preload/runtime/log.h), output that a terminal is
 * (common/files/termstream.h), tables and the viewer. Pure, thread-safe, allocates nothing.
 */
#ifndef FLAME_COMMON_TERMTEXT_H
#define FLAME_COMMON_TERMTEXT_H

#include "common/compiler.h"

struct termtext {
    uint32_t cp;      /* the character, if it may be shown as it is */
    char escaped[16]; /* "\x1b" or "\u{202e}", in ASCII, if it may not; else "" */
};

/*
 * The next character of s[0..len), len > 0; returns how many bytes it takes, at least one. Escaped
 * are controls (C0, C1, DEL), bytes that are not UTF-8, and invisible characters that change how
 * others are shown: directions, joiners, variation selectors, tags, line separators.
 */
size_t termtext_next(const char *s, size_t len, struct termtext *c);

/* Copies s[0..len) as a terminal may be sent it, as far as there is room; returns how many bytes of
 * `to` it took. It cuts nothing in the middle of a character. */
size_t termtext_copy(char *to, size_t room, const char *s, size_t len);

#endif
