#include "render/text/termtext.h"

#include <stdio.h>

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

size_t termtext_next(const char *s, size_t len, struct termtext *c)
{
    size_t n = utf8_decode(s, len, &c->cp);

    c->escaped[0] = '\0';
    if (n == 0 || utf8_is_control(c->cp))
        snprintf(c->escaped, sizeof c->escaped, "\\x%02x", n ? (unsigned)c->cp : (unsigned char)*s);
    else if (c->cp >= 0xad && is_unseen(c->cp))
        snprintf(c->escaped, sizeof c->escaped, "\\u{%x}", (unsigned)c->cp);
    return n ? n : 1;
}
