#define _GNU_SOURCE
#include "fold/stacks/drawn.h"

#include <ctype.h>

#include "common/begins.h"
#include "common/error.h"
#include "common/folded.h"

/* Comments and declarations before the first element. */
#define PROBE 4096

/* The name of the first element of markup, without what may stand before it. */
static bool first_element(const char *s, size_t len, struct span *name)
{
    const char *end = s + len, *from;

    while (s < end) {
        if (bytes_begin(s, (size_t)(end - s), "<!--")) {
            s = memmem(s, (size_t)(end - s), "-->", 3);
        } else if (*s == '<' && s + 1 < end && s[1] == '?') {
            s = memchr(s, '>', (size_t)(end - s));
        } else if (*s == '<' && s + 1 < end && s[1] == '!') {
            /* "<!DOCTYPE html": as good as the element. */
            s = memchr(s, ' ', (size_t)(end - s));
            break;
        } else if (*s == '<') {
            break;
        } else if (!isspace((unsigned char)*s) && *s != '>' && *s != '-') {
            return false;
        }
        if (!s)
            return false;
        s++;
    }
    if (!s || s >= end)
        return false;
    for (from = ++s; s < end && isalpha((unsigned char)*s);)
        s++;
    *name = (struct span){from, (size_t)(s - from)};
    return name->len > 0;
}

static bool is_word(struct span s, const char *word)
{
    return s.len == strlen(word) && strncasecmp(s.s, word, s.len) == 0;
}

static bool is_stack(const char *text, size_t len)
{
    const char *nl = memchr(text, '\n', len);
    struct folded_line line;

    return folded_parse_line(text, nl ? (size_t)(nl - text) : len, &line) == 1;
}

const char *drawn_kind(const char *text, size_t len)
{
    struct span element;

    if (bytes_begin(text, len, "\xef\xbb\xbf")) {
        text += 3;
        len -= 3;
    }
    if (bytes_begin(text, len, "\x89PNG\r\n"))
        return "a picture (PNG)";
    if (bytes_begin(text, len, "%PDF-"))
        return "a document (PDF)";
    if (bytes_begin(text, len, "\177ELF"))
        return "a program";
    /* "<svg>;draw 12": a frame may be called so. */
    if (!first_element(text, len, &element) || is_stack(text, len))
        return NULL;
    if (is_word(element, "svg"))
        return "a picture (SVG)";
    return is_word(element, "html") ? "a page (HTML)" : NULL;
}

int drawn_refuse(struct textinput *in)
{
    const char *text, *kind;
    size_t len = textinput_peek(in, &text, PROBE);

    kind = in->error ? NULL : drawn_kind(text, len);
    if (!kind)
        return FLAME_OK;
    if (strcmp(kind, "a program") == 0)
        return flame_error(
            FLAME_USAGE, "%s: is %s, not a recording of one; 'flame mem -o x.flame %s' makes that",
            in->name, kind, in->name);
    return flame_error(FLAME_USAGE,
                       "%s: is %s, which has no stacks to read; take the trace or the folded "
                       "stacks it was drawn from ('flame mem -o x.flame' keeps the trace)",
                       in->name, kind);
}
