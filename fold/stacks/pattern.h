/*
 * pattern.h: the regular expressions of options, in PCRE2's syntax.
 *
 * A pattern matches anywhere in a text unless it is anchored. Text is UTF-8; bytes that are not
 * UTF-8 match no character, not even '.', and do no harm. Matching is bounded: an expression
 * that would run for ever stops with an error.
 *
 * A pattern is not to be shared by threads.
 */
#ifndef FLAME_FOLD_STACKS_PATTERN_H
#define FLAME_FOLD_STACKS_PATTERN_H

#include <stdbool.h>

#include "common/strbuf.h"

struct pattern;

/*
 * NULL when `text` is no regular expression; `why` then gets the error and its place:
 * "quantifier does not follow a repeatable item, at character 3". Free the pattern with
 * pattern_free.
 */
struct pattern *pattern_new(const char *text, struct strbuf *why);
void pattern_free(struct pattern *p);

/* 1: it matches; 0: it does not; -1: it reached its bound. */
int pattern_matches(const struct pattern *p, const char *s, size_t len);

#endif
