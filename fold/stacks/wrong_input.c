#define _GNU_SOURCE
#include "fold/stacks/wrong_input.h"

#include <ctype.h>

#include "common/str_starts.h"
#include "common/error.h"
#include "common/folded.h"

/* Comments and declarations before the first element. */
#define PROBE 4096

/* The name of the first element of markup, behind comments and declarations. */
static bool first_element(const char *s, size_t len, struct span *name)
{
    const char *end = s + len, *from;

    while (s < end) {
        if (bytes_start_with(s, (size_t)(end - s), "<!--")) {
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

const char *wrong_input_kind(const char *text, size_t len)
{
    struct span element;

    if (bytes_start_with(text, len, "\xef\xbb\xbf")) {
        text += 3;
        len -= 3;
    }
    if (bytes_start_with(text, len, "\x89PNG\r\n"))
        return "a picture (PNG)";
    if (bytes_start_with(text, len, "%PDF-"))
        return "a document (PDF)";
    if (bytes_start_with(text, len, "\177ELF"))
        return "a program";
    /* "<svg>;draw 12": a frame may have such a name. */
    if (!first_element(text, len, &element) || is_stack(text, len))
        return NULL;
    if (is_word(element, "svg"))
        return "a picture (SVG)";
    return is_word(element, "html") ? "a page (HTML)" : NULL;
}

/* By their first bytes, as file(1) knows them. */
static const struct {
    const char *magic;
    size_t len;
    const char *is, *instead;
} packed[] = {
    {"PERFILE2", 8, "perf's own file", "'perf script -i FILE | flame collapse' makes stacks of it"},
    {"\xfd"
     "7zXZ",
     6, "packed by xz", "unpack it first: 'xz -dk FILE'"},
    {"BZh", 3, "packed by bzip2", "unpack it first: 'bzip2 -dk FILE'"},
    {"PK\3\4", 4, "a zip archive", "unpack it first: 'unzip FILE'"},
    {"\4\"M\x18", 4, "packed by lz4", "unpack it first: 'lz4 -dk FILE'"},
    {"\xff\xfe", 2, "UTF-16", "'iconv -f UTF-16 -t UTF-8 FILE' makes text of it"},
    {"\xfe\xff", 2, "UTF-16", "'iconv -f UTF-16 -t UTF-8 FILE' makes text of it"},
};

static int packed_refuse(const struct textinput *in, const char *text, size_t len)
{
    for (size_t i = 0; i < ARRAY_LEN(packed); i++)
        if (len >= packed[i].len && memcmp(text, packed[i].magic, packed[i].len) == 0 &&
            (memchr(text, 0, len < 64 ? len : 64) || !is_stack(text, len)))
            return flame_error(FLAME_USAGE, "%s: is %s; %s", in->name, packed[i].is,
                               packed[i].instead);
    return FLAME_OK;
}

int wrong_input_refuse(struct textinput *in)
{
    const char *text, *kind;
    size_t len = textinput_peek(in, &text, PROBE);

    if (!in->error && packed_refuse(in, text, len))
        return FLAME_USAGE;
    kind = in->error ? NULL : wrong_input_kind(text, len);
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
