/*
 * tap.h: results of a C unit test in the Test Anything Protocol, for prove.
 *
 * No plan is needed: end main with `return done_testing();`, which prints it and
 * returns the exit status. A test that dies on the way prints no plan and so
 * fails. Each check returns its condition, so that `if (!ok(...))` can stop.
 *
 *     ok(p != NULL, "the map is there");
 *     is_int(map_size(p), 3, "size after %d puts", 3);
 *     is_str(name, "main", "name of the root");
 *     return done_testing();
 *
 * Not thread-safe: check from the main thread only. Include it once a program.
 */
#ifndef FLAME_TESTS_TAP_H
#define FLAME_TESTS_TAP_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAP_PRINTF(fmt, args) __attribute__((unused, format(printf, fmt, args)))

static int tap_run, tap_failed;
static int tap_rows; /* named by row() since the last check */

static inline TAP_PRINTF(2, 0) bool tap_result(bool pass, const char *fmt, va_list ap)
{
    char name[512];

    vsnprintf(name, sizeof name, fmt, ap);
    /* A newline would start another TAP line, '#' a directive. */
    for (char *s = name; *s; s++)
        if (*s == '\n' || *s == '#')
            *s = ' ';
    tap_run++;
    tap_rows = 0;
    tap_failed += !pass;
    printf("%sok %d - %s\n", pass ? "" : "not ", tap_run, name);
    fflush(stdout);
    return pass;
}

/* A comment in the output; prove shows it for a failed test or with -v. */
static TAP_PRINTF(1, 2) void diag(const char *fmt, ...)
{
    va_list ap;

    fflush(stdout);
    fputs("# ", stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
}

/* Checks a row of a table, or one round of many; one check after the last row reports for all of
 * them. Rows that fail are named, at most five, so that the table need not be searched. */
static TAP_PRINTF(2, 3) bool row(bool pass, const char *fmt, ...)
{
    char name[400];
    va_list ap;

    if (!pass && tap_rows++ < 5) {
        va_start(ap, fmt);
        vsnprintf(name, sizeof name, fmt, ap);
        va_end(ap);
        diag("  not so: %s", name);
    }
    return pass;
}

/*
 * Checks a row or round whose errors are counted: 1 if `cond`, an error, holds, after a line with
 * the condition and the number of the row or round.
 *
 *     wrong += WRONG(twin[i] != found[i], i);
 */
#define WRONG(cond, number) (!row(!(cond), "number %jd: %s", (intmax_t)(number), #cond))

static TAP_PRINTF(2, 3) bool ok(bool pass, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    tap_result(pass, fmt, ap);
    va_end(ap);
    return pass;
}

static TAP_PRINTF(3, 4) bool is_int(intmax_t got, intmax_t want, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    tap_result(got == want, fmt, ap);
    va_end(ap);
    if (got != want)
        diag("  got %" PRIdMAX " (0x%" PRIxMAX "), want %" PRIdMAX " (0x%" PRIxMAX ")", got,
             (uintmax_t)got, want, (uintmax_t)want);
    return got == want;
}

static TAP_PRINTF(3, 4) bool is_str(const char *got, const char *want, const char *fmt, ...)
{
    bool pass = got == want || (got && want && strcmp(got, want) == 0);
    va_list ap;

    va_start(ap, fmt);
    tap_result(pass, fmt, ap);
    va_end(ap);
    if (!pass)
        diag("  got  '%s'\n#   want '%s'", got ? got : "(null)", want ? want : "(null)");
    return pass;
}

/* Compares bytes, which may hold NULs, and prints where they first differ. */
static TAP_PRINTF(4, 5) bool is_mem(const void *got, const void *want, size_t len, const char *fmt,
                                    ...)
{
    const unsigned char *g = got, *w = want;
    size_t at = 0;
    va_list ap;

    while (at < len && g[at] == w[at])
        at++;
    va_start(ap, fmt);
    tap_result(at == len, fmt, ap);
    va_end(ap);
    if (at < len)
        diag("  byte %zu of %zu: got 0x%02x, want 0x%02x", at, len, g[at], w[at]);
    return at == len;
}

/* Whether the environment's FLAME_MAY_SKIP, words with blanks between, has this word. */
static bool tap_may_skip(const char *key)
{
    const char *keys = getenv("FLAME_MAY_SKIP");
    size_t len = strlen(key);

    for (const char *at = keys; at && *at; at += strspn(at, " ")) {
        size_t word = strcspn(at, " ");

        if (word == len && memcmp(at, key, len) == 0)
            return true;
        at += word;
    }
    return false;
}

/*
 * A check that cannot be made here. On a machine with CI=true in its environment
 * every test must run, so there it fails; but for skip_key, when FLAME_MAY_SKIP has the
 * key, as the same check is made elsewhere then.
 */
static TAP_PRINTF(2, 3) void skip_key(const char *key, const char *fmt, ...)
{
    const char *ci = getenv("CI");
    char why[256];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    if (ci && strcmp(ci, "true") == 0 && !tap_may_skip(key)) {
        ok(false, "must run, but is skipped: %s", why);
        return;
    }
    printf("ok %d # SKIP %s\n", ++tap_run, why);
    fflush(stdout);
}

#define skip(...) skip_key("", __VA_ARGS__)

__attribute__((unused)) static int done_testing(void)
{
    printf("1..%d\n", tap_run);
    fflush(stdout);
    if (tap_failed)
        diag("%d of %d failed", tap_failed, tap_run);
    return tap_failed || tap_run == 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
