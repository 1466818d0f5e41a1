/*
 * wildcard.h: the patterns of suppressions. '*' matches any bytes; '?', if it is a wildcard, one
 * byte; all other bytes match themselves. A pattern must match the whole of a text.
 *
 * Patterns and the names that they are compared with come from outside. A match takes time in
 * proportion to the text for each 64 bytes of the pattern, for any contents of either. Matching is
 * thread-safe.
 */
#ifndef FLAME_DRIVER_SUPPRESS_WILDCARD_H
#define FLAME_DRIVER_SUPPRESS_WILDCARD_H

#include <stdbool.h>
#include <stddef.h>

struct wildcard;

/* `one`: '?' matches one byte, else itself. Free it with wildcard_free. */
struct wildcard *wildcard_new(const char *pattern, size_t len, bool one);
void wildcard_free(struct wildcard *w); /* NULL is allowed */

bool wildcard_matches(const struct wildcard *w, const char *s, size_t len);

#endif
