/*
 * A stream's buffer is written when it is full, which may be in the middle of a character: its
 * first bytes wait for the others.
 */
#define _GNU_SOURCE
#include "common/files/termstream.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/termtext.h"
#include "common/utf8.h"

#define LONGEST 4u /* bytes of a character */

struct termstream {
    FILE *to;
    char begun[LONGEST]; /* a character whose remaining bytes have not come yet */
    size_t nbegun;
};

/* How many bytes at the end of s[0..len) may be a character's first ones. */
static size_t begun_at_end(const char *s, size_t len)
{
    for (size_t n = 1; n < LONGEST && n <= len; n++) {
        unsigned char c = (unsigned char)s[len - n];

        if (c >= 0xc0)
            return n < (c < 0xe0 ? 2u : c < 0xf0 ? 3u : 4u) ? n : 0;
        if (c < 0x80)
            break;
    }
    return 0;
}

static bool put(FILE *to, const char *s, size_t len)
{
    for (size_t i = 0, n; i < len; i += n) {
        struct termtext c = {.escaped = ""};

        n = s[i] == '\n' || s[i] == '\t' ? 1 : termtext_next(s + i, len - i, &c);
        if ((*c.escaped ? fputs(c.escaped, to) == EOF : fwrite(s + i, 1, n, to) != n))
            return false;
    }
    return true;
}

/* Appends one byte to the character that has begun. False: the character cannot be written. */
static bool go_on(struct termstream *t, char byte)
{
    uint32_t cp;
    size_t rest;

    t->begun[t->nbegun++] = byte;
    rest = utf8_decode(t->begun, t->nbegun, &cp) ? 0 : begun_at_end(t->begun, t->nbegun);
    if (rest == t->nbegun)
        return true;
    if (!put(t->to, t->begun, t->nbegun - rest))
        return false;
    memmove(t->begun, t->begun + t->nbegun - rest, rest);
    t->nbegun = rest;
    return true;
}

static ssize_t write_some(void *cookie, const char *s, size_t len)
{
    struct termstream *t = cookie;
    size_t at = 0, rest;

    while (t->nbegun && at < len)
        if (!go_on(t, s[at++]))
            return 0;
    if (at == len)
        return fflush(t->to) == 0 ? (ssize_t)len : 0;
    rest = begun_at_end(s + at, len - at);
    if (!put(t->to, s + at, len - at - rest) || fflush(t->to) != 0)
        return 0;
    memcpy(t->begun, s + len - rest, rest);
    t->nbegun = rest;
    return (ssize_t)len;
}

static int end(void *cookie)
{
    struct termstream *t = cookie;
    bool good = put(t->to, t->begun, t->nbegun);
    FILE *to = t->to;

    free(t);
    if (to == stdout)
        return fflush(to) == 0 && good ? 0 : EOF;
    return fclose(to) == 0 && good ? 0 : EOF;
}

FILE *termstream_open(FILE *to)
{
    struct termstream *t = isatty(fileno(to)) ? calloc(1, sizeof *t) : NULL;
    cookie_io_functions_t io = {.write = write_some, .close = end};
    FILE *f = t ? fopencookie(t, "w", io) : NULL;

    if (!f) {
        free(t);
        return to;
    }
    t->to = to;
    return f;
}
