/* Compares wildcards with a reference that tries every way, and matches patterns for which the
 * reference would take forever. */
#include "driver/suppress/wildcard.h"

#include "common/alloc.h"
#include "tests/rnd.h"
#include "tests/tap.h"

/* Tries all ways to fill the stars. */
static bool reference(const char *p, const char *s, bool one)
{
    if (!*p)
        return !*s;
    if (*p == '*')
        return reference(p + 1, s, one) || (*s && reference(p, s + 1, one));
    return *s && (*p == *s || (one && *p == '?')) && reference(p + 1, s + 1, one);
}

static bool matches(const char *pattern, const char *s, bool one)
{
    struct wildcard *w = wildcard_new(pattern, strlen(pattern), one);
    bool is = wildcard_matches(w, s, strlen(s));

    wildcard_free(w);
    return is;
}

static void table(void)
{
    static const struct {
        const char *pattern, *text;
        bool one, is;
    } rows[] = {
        {"", "", false, true},
        {"", "a", false, false},
        {"*", "", false, true},
        {"***", "abc", false, true},
        {"a", "a", false, true},
        {"a", "A", false, false},
        {"a", "ab", false, false},
        {"*b", "ab", false, true},
        {"*b", "aba", false, false},
        {"a*", "ab", false, true},
        {"*ab*", "xxaabyy", false, true},
        {"a?c", "abc", true, true},
        {"a?c", "abc", false, false},
        {"a?c", "a?c", false, true},
        {"a?c", "ac", true, false},
        {"?*?", "a", true, false},
        {"operator new*", "operator new[](unsigned long)", false, true},
        {"\xff*", "\xff\x80", false, true},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        ok(matches(rows[i].pattern, rows[i].text, rows[i].one) == rows[i].is,
           "pattern '%s' matches or refuses '%s' as the table says", rows[i].pattern, rows[i].text);
}

static void random_word(char *to, size_t most, const char *letters)
{
    size_t n = rnd() % (most + 1), kinds = strlen(letters);

    for (size_t i = 0; i < n; i++)
        to[i] = letters[rnd() % kinds];
    to[n] = '\0';
}

static void beside_reference(void)
{
    char pattern[16], text[16];
    int wrong = 0, hits = 0;

    for (int i = 0; i < 100000; i++) {
        bool one = i & 1, is;

        random_word(pattern, 8, "ab*?c");
        random_word(text, 10, "abc?");
        is = reference(pattern, text, one);
        hits += is;
        wrong += !row(matches(pattern, text, one) == is, "'%s' and '%s'", pattern, text);
    }
    is_int(wrong, 0, "100,000 random patterns match as the reference matcher says");
    ok(hits > 1000, "random patterns match often enough: %d times", hits);
}

/* More states than fit into one word, or on the stack. */
static void long_patterns(void)
{
    int wrong = 0;

    for (size_t n = 1; n < 700; n += 7) {
        char *s = xmemdup0("", 0);
        struct wildcard *w;

        s = xrealloc(s, n + 2);
        memset(s, 'x', n);
        s[n / 2] = 'y';
        w = wildcard_new(s, n, false);
        wrong += WRONG(!wildcard_matches(w, s, n), n);
        wrong += WRONG(wildcard_matches(w, s, n - 1), n);
        s[n - 1] ^= 1;
        wrong += WRONG(wildcard_matches(w, s, n), n);
        wildcard_free(w);
        free(s);
    }
    is_int(wrong, 0, "patterns of up to 700 bytes match their text and no other");
}

/* A matcher that backtracks would not return from these. */
static void hostile(void)
{
    size_t n = 1 << 20, stars = 1000;
    char *text = xmalloc(n), *pattern = xmalloc(2 * stars + 1);
    struct wildcard *w;

    memset(text, 'a', n);
    for (size_t i = 0; i < stars; i++) {
        pattern[2 * i] = '*';
        pattern[2 * i + 1] = 'a';
    }
    pattern[2 * stars] = 'b';
    w = wildcard_new(pattern, 2 * stars + 1, true);
    ok(!wildcard_matches(w, text, n),
       "a pattern of a thousand stars does not match a MiB without its b");
    text[n - 1] = 'b';
    ok(wildcard_matches(w, text, n), "a pattern of a thousand stars matches a MiB with its b");
    wildcard_free(w);
    for (size_t i = 0; i < stars; i++)
        pattern[2 * i + 1] = i % 2 ? '?' : 'a';
    w = wildcard_new(pattern, 2 * stars + 1, true);
    ok(wildcard_matches(w, text, n), "a pattern of a thousand stars and any bytes matches");
    wildcard_free(w);
    free(pattern);
    free(text);
}

int main(void)
{
    table();
    beside_reference();
    long_patterns();
    hostile();
    return done_testing();
}
