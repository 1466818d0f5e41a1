/*
 * missing_symbols.h: modules that should have names in a profile and have none, because their files
 * are gone or have changed.
 *
 * Their frames are offsets in one build, which mean nothing in another. So a profile lists them,
 * in a line "# flame: names-lost=NAME:BUILD" for each, where BUILD is hex digits of the build-id
 * or of its substitute. A struct missing_symbols is a set of such words, in the order in which they
 * were added. Not thread-safe.
 */
#ifndef FLAME_FOLD_STACKS_MISSING_SYMBOLS_H
#define FLAME_FOLD_STACKS_MISSING_SYMBOLS_H

#include <stdbool.h>
#include <stdio.h>

#include "common/strbuf.h"

struct missing_symbols {
    char **words;
    size_t n;
    bool more; /* than LOSTNAMES_MAX, which are not kept; all sets with more differ */
};

#define LOSTNAMES_MAX 1000

#define LOSTNAMES_KEY "names-lost"

void missing_symbols_release(struct missing_symbols *l);
/* Adds s[0..len) unless it is there. */
void missing_symbols_add(struct missing_symbols *l, const char *s, size_t len);
/* The word of a module, for missing_symbols_add: its file's name without blanks, and its build. */
void missing_symbols_word(struct strbuf *sb, const char *path, const uint8_t *build, size_t len);
/* Whether both hold the same words. */
bool missing_symbols_same(const struct missing_symbols *a, const struct missing_symbols *b);
/* Appends the lines, and the names of a few modules for a message: "app, libx.so and 3 more". */
void missing_symbols_add_lines(const struct missing_symbols *l, struct strbuf *sb);
void missing_symbols_add_names(const struct missing_symbols *l, struct strbuf *sb);

#endif
