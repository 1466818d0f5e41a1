/*
 * wildcard.h: the patterns of suppressions: '*' stands for any bytes, '?', where it means
 * something, for one byte; all else for itself. A pattern is for the whole of a text.
 *
 * Patterns come from files that nobody has checked, and so do the names they are held
 * against: a match takes time in proportion to the text for each 64 bytes of the pattern,
 * whatever either holds. Matching is thread-safe.
 */
#ifndef FLAME_DRIVER_SUPPRESS_WILDCARD_H
#define FLAME_DRIVER_SUPPRESS_WILDCARD_H

#include <stdbool.h>
#include <stddef.h>

struct wildcard;

/* `one`: '?' stands for one byte, else for itself. Free it with wildcard_free. */
struct wildcard *wildcard_new(const char *pattern, size_t len, bool one);
void wildcard_free(struct wildcard *w); /* NULL is allowed */

bool wildcard_matches(const struct wildcard *w, const char *s, size_t len);

#endif
