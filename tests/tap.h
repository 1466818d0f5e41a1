/*
 * tap.h: TAP for C unit tests, in the manner of libtap. No plan needed:
 * end main with `return done_testing();`.
 */
#ifndef FLAME_TESTS_TAP_H
#define FLAME_TESTS_TAP_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int tap_count, tap_failed;

__attribute__((format(printf, 2, 3), unused)) static int ok(int cond, const char *fmt, ...)
{
    va_list ap;

    printf("%sok %d - ", cond ? "" : "not ", ++tap_count);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n");
    if (!cond)
        tap_failed++;
    return cond;
}

/* Functions rather than macros: a name built from the values is evaluated once. */
__attribute__((format(printf, 3, 4), unused)) static int is_int(long long got, long long want,
                                                                const char *fmt, ...)
{
    char name[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(name, sizeof name, fmt, ap);
    va_end(ap);
    if (!ok(got == want, "%s", name))
        printf("# got %lld, want %lld\n", got, want);
    return got == want;
}

__attribute__((format(printf, 3, 4), unused)) static int is_str(const char *got, const char *want,
                                                                const char *fmt, ...)
{
    int same = got && want && strcmp(got, want) == 0;
    char name[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(name, sizeof name, fmt, ap);
    va_end(ap);
    if (!ok(same, "%s", name))
        printf("# got \"%s\", want \"%s\"\n", got ? got : "(null)", want ? want : "(null)");
    return same;
}

__attribute__((unused)) static int done_testing(void)
{
    printf("1..%d\n", tap_count);
    return tap_failed ? 1 : 0;
}

#endif
