#include "common/termtext.h"

#include "common/utf8.h"

/* Format characters and their like, by ascending ranges (Unicode 15, categories Cf, Zl and Zp, and
 * the variation selectors). */
static const struct {
    uint32_t first, last;
} unseen[] = {
    {0xad, 0xad},       {0x600, 0x605},     {0x61c, 0x61c},     {0x6dd, 0x6dd},
    {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},     {0x115f, 0x1160},
    {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},
    {0x3164, 0x3164},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
    {0xfff0, 0xfffb},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f},
    {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

static int is_unseen(uint32_t cp)
{
    for (size_t i = 0; i < ARRAY_LEN(unseen) && unseen[i].first <= cp; i++)
        if (cp <= unseen[i].last)
            return 1;
    return 0;
}

/* prefix, digits and suffix; the recorder has no printf. */
static void put_hex(char *to, const char *prefix, uint32_t number, const char *suffix)
{
    static const char digits[] = "0123456789abcdef";
    int shift = number > 0xff ? 28 : 4;

    while (shift > 4 && !(number >> shift))
        shift -= 4;
    while (*prefix)
        *to++ = *prefix++;
    for (; shift >= 0; shift -= 4)
        *to++ = digits[number >> shift & 15];
    while (*suffix)
        *to++ = *suffix++;
    *to = '\0';
}

size_t termtext_next(const char *s, size_t len, struct termtext *c)
{
    size_t n = utf8_decode(s, len, &c->cp);

    c->escaped[0] = '\0';
    if (n == 0 || utf8_is_control(c->cp))
        put_hex(c->escaped, "\\x", n ? c->cp : (unsigned char)*s, "");
    else if (c->cp >= 0xad && is_unseen(c->cp))
        put_hex(c->escaped, "\\u{", c->cp, "}");
    return n ? n : 1;
}

size_t termtext_copy(char *to, size_t room, const char *s, size_t len)
{
    size_t at = 0;

    for (size_t i = 0; i < len;) {
        struct termtext c;
        size_t n = termtext_next(s + i, len - i, &c), wide = *c.escaped ? strlen(c.escaped) : n;

        if (wide > room - at)
            break;
        memcpy(to + at, *c.escaped ? c.escaped : s + i, wide);
        at += wide;
        i += n;
    }
    return at;
}
