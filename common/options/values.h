/*
 * values.h: parsers of option values, for the rows of opts.h. Each opts_take function says what it
 * stores at its row's place. All of them report a wrong value alike: "COMMAND: --NAME VALUE:
 * expected WHAT".
 */
#ifndef FLAME_COMMON_OPTIONS_VALUES_H
#define FLAME_COMMON_OPTIONS_VALUES_H

#include "common/options/opts.h"

opts_take opts_take_true;   /* bool: true; for options without a value */
opts_take opts_take_false;  /* bool: false */
opts_take opts_take_text;   /* const char *: the value */
opts_take opts_take_list;   /* struct opts_list: one more */
opts_take opts_take_word;   /* int: the index of the value among the row's words */
opts_take opts_take_choice; /* const char *: the value, which must be one of the row's words */

opts_take opts_take_uint;   /* unsigned: a number from row->least to row->most */
opts_take opts_take_double; /* double: a number from row->least to row->most */
opts_take opts_take_pixels; /* double: as opts_take_double, perhaps with "px" behind it */
opts_take opts_take_bytes;  /* uint64_t: bytes, as opts_parse_bytes has them; row->most if not 0 */

/* Nanoseconds in a uint64_t, as opts_parse_time has them; a bare number is in row->which
 * nanoseconds. From row->least (nanoseconds) on. */
opts_take opts_take_time;

/* The number of a process, into an unsigned. */
opts_take opts_take_pid;

/* Prints the line for a value that is no process id but perhaps a program's name; with `several` a
 * list of ids is allowed. Returns FLAME_USAGE. */
int opts_wrong_pid(const struct opts_given *given, bool several);

/* Values of an option that may be given several times. All zero is empty. */
struct opts_list {
    const char **items; /* each borrowed */
    size_t n;
};

void opts_list_release(struct opts_list *l);

/* The index of `word` among the blank-separated `words`, or -1. */
int opts_find_word(const char *words, const char *word);

/* Parses bytes with an optional k, m or g (powers of 1024). False: `s` is no such number. */
bool opts_parse_bytes(const char *s, uint64_t *bytes);

/* Parses a time, "10", "1.5s", "20ms", "300us": a bare number is in `unit` nanoseconds. False: it
 * is none, or more than a thousand days. */
bool opts_parse_time(const char *s, uint64_t unit, uint64_t *ns);

/* Prints "COMMAND: --NAME VALUE: expected WHAT"; returns FLAME_USAGE. */
int opts_wrong_value(const struct opts_given *given, const char *what, ...) FLAME_PRINTF(2, 3);

#endif
