/*
 * missing_symbols.h: modules that should have names in a profile and have none, because their files
 * are gone or have changed.
 *
 * Their frames are offsets in one build, which mean nothing in another. So a profile lists them,
 * in a line "# flame: names-lost=NAME:BUILD" for each, where BUILD is hex digits of the build-id
 * or of its substitute. A struct lostnames is a set of such words, in the order in which they
 * were added. Not thread-safe.
 */
#ifndef FLAME_FOLD_STACKS_MISSING_SYMBOLS_H
#define FLAME_FOLD_STACKS_MISSING_SYMBOLS_H

#include <stdbool.h>
#include <stdio.h>

#include "common/strbuf.h"

struct lostnames {
    char **words;
    size_t n;
    bool more; /* than LOSTNAMES_MAX, which are not kept; all sets with more differ */
};

#define LOSTNAMES_MAX 1000

#define LOSTNAMES_KEY "names-lost"

void lostnames_release(struct lostnames *l);
/* Adds s[0..len) unless it is there. */
void lostnames_add(struct lostnames *l, const char *s, size_t len);
/* The word of a module, for lostnames_add: its file's name without blanks, and its build. */
void lostnames_word(struct strbuf *sb, const char *path, const uint8_t *build, size_t len);
/* Whether both hold the same words. */
bool lostnames_same(const struct lostnames *a, const struct lostnames *b);
/* Appends the lines, and the names of a few modules for a message: "app, libx.so and 3 more". */
void lostnames_add_lines(const struct lostnames *l, struct strbuf *sb);
void lostnames_add_names(const struct lostnames *l, struct strbuf *sb);

#endif
