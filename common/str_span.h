/*
 * str_span.h: strspn and strcspn for code that runs inside of other programs. The C library's lie
 * on pages of it that little else uses, and each is read in anew by every process. No malloc;
 * safe everywhere.
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

/* How many bytes at the beginning of `s` are of `set`. */
static inline size_t span_of(const char *s, const char *set)
{
    size_t n = 0;

    while (s[n] && span_has(set, s[n]))
        n++;
    return n;
}

/* How many bytes of `s` come before one of `set`, or before its end. */
static inline size_t span_until(const char *s, const char *set)
{
    size_t n = 0;

    while (s[n] && !span_has(set, s[n]))
        n++;
    return n;
}

#endif
