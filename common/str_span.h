/*
 * str_span.h: strspn and strcspn for code that runs inside of other programs. The C library's
 * versions lie on pages that little else uses, and every process would read these pages anew. No
 * malloc; safe everywhere.
 */
#ifndef FLAME_COMMON_STR_SPAN_H
#define FLAME_COMMON_STR_SPAN_H

#include <stdbool.h>
#include <stddef.h>

static inline bool span_has(const char *set, char c)
{
    while (*set && *set != c)
        set++;
    return *set;
}

/* Number of bytes at the beginning of `s` that are in `set`. */
static inline size_t span_of(const char *s, const char *set)
{
    size_t n = 0;

    while (s[n] && span_has(set, s[n]))
        n++;
    return n;
}

/* Number of bytes of `s` before one that is in `set`, or before its end. */
static inline size_t span_until(const char *s, const char *set)
{
    size_t n = 0;

    while (s[n] && !span_has(set, s[n]))
        n++;
    return n;
}

#endif
