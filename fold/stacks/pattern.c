/*
 * Regular expressions by PCRE2.
 *
 * Problem: options take regular expressions. The error of a wrong one must have its place, and
 * one is matched against each of hundreds of thousands of names, some of them broken text, some
 * chosen to make it run for ever.
 *
 * Rejected: regcomp of the C library. It does not say where an expression is wrong, stops at
 * NULs, is ten times slower, and has no bound on its work.
 */
#include "fold/stacks/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>

#include "common/alloc.h"

/* A name of a megabyte against a sound expression stays far below. */
enum { STEPS = 10 * 1000 * 1000 };

struct pattern {
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *context;
};

/* Characters before a byte offset, from 1. */
static size_t character_at(const char *text, size_t offset)
{
    size_t n = 1;

    for (size_t i = 0; i < offset && text[i]; i++)
        n += ((unsigned char)text[i] & 0xc0) != 0x80;
    return n;
}

struct pattern *pattern_new(const char *text, struct strbuf *why)
{
    struct pattern *p = xcalloc(1, sizeof *p);
    PCRE2_SIZE at;
    int error;

    p->code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
                            PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_DOLLAR_ENDONLY |
                                PCRE2_NEVER_BACKSLASH_C,
                            &error, &at, NULL);
    if (!p->code) {
        PCRE2_UCHAR words[160];

        pcre2_get_error_message(error, words, sizeof words);
        strbuf_addf(why, "%s, at ", (const char *)words);
        if (text[at])
            strbuf_addf(why, "character %zu", character_at(text, at));
        else
            strbuf_addstr(why, "its end");
        free(p);
        return NULL;
    }
    /* Where there is no compiler for this machine, it is interpreted. */
    pcre2_jit_compile(p->code, PCRE2_JIT_COMPLETE);
    p->data = pcre2_match_data_create(1, NULL);
    p->context = pcre2_match_context_create(NULL);
    if (!p->data || !p->context) {
        strbuf_addstr(why, "no memory for it");
        pattern_free(p);
        return NULL;
    }
    pcre2_set_match_limit(p->context, STEPS);
    return p;
}

void pattern_free(struct pattern *p)
{
    if (!p)
        return;
    pcre2_match_context_free(p->context);
    pcre2_match_data_free(p->data);
    pcre2_code_free(p->code);
    free(p);
}

int pattern_matches(const struct pattern *p, const char *s, size_t len)
{
    int n = pcre2_match(p->code, (PCRE2_SPTR)s, len, 0, 0, p->data, p->context);

    /* Compiled code has a small stack; the interpreter's is on the heap. */
    if (n == PCRE2_ERROR_JIT_STACKLIMIT)
        n = pcre2_match(p->code, (PCRE2_SPTR)s, len, 0, PCRE2_NO_JIT, p->data, p->context);
    return n >= 0 ? 1 : n == PCRE2_ERROR_NOMATCH ? 0 : -1;
}
