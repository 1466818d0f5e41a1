/*
 * str_starts.h: tests whether a text begins with another. Allocates nothing; the recorder uses it,
 * too.
 */
#ifndef FLAME_COMMON_STR_STARTS_H
#define FLAME_COMMON_STR_STARTS_H

#include <stdbool.h>

#include "common/compiler.h"

static inline bool starts_with(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

/* Like starts_with(), for `len` bytes that need no NUL at their end. */
static inline bool bytes_start_with(const char *s, size_t len, const char *with)
{
    return len >= strlen(with) && memcmp(s, with, strlen(with)) == 0;
}

#endif
