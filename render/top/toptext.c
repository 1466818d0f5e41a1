#include "render/top/toptext.h"

#include <stdio.h>

#include "common/utf8.h"
#include "render/text/value.h"

void toptext_add_name(struct strbuf *sb, const char *s, size_t len, size_t columns)
{
    size_t used = 0, keep = sb->len;

    for (size_t i = 0; i < len;) {
        char escaped[16] = "";
        uint32_t cp = 0;
        size_t n = utf8_decode(s + i, len - i, &cp), wide;

        if (n == 0 || utf8_is_control(cp))
            snprintf(escaped, sizeof escaped, "\\x%02x", n ? cp : (unsigned char)s[i]);
        else if ((cp >= 0x202a && cp <= 0x202e) || (cp >= 0x2066 && cp <= 0x2069))
            snprintf(escaped, sizeof escaped, "\\u{%x}", cp);
        wide = *escaped ? strlen(escaped) : cp >= 0x1100 ? 2 : 1;
        if (columns && used + wide > columns) {
            strbuf_setlen(sb, keep);
            strbuf_addstr(sb, "\xe2\x80\xa6");
            return;
        }
        used += wide;
        if (*escaped)
            strbuf_addstr(sb, escaped);
        else
            strbuf_add(sb, s + i, n);
        if (!columns || used < columns) /* room for "…" behind this one */
            keep = sb->len;
        i += n ? n : 1;
    }
}

void toptext_add_right(struct strbuf *sb, const char *text, size_t width)
{
    size_t len = 0;

    for (const char *p = text; *p; p++)
        len += (*p & 0xc0) != 0x80; /* the micro sign is two bytes */
    for (; len < width; len++)
        strbuf_addch(sb, ' ');
    strbuf_addstr(sb, text);
}

void toptext_add_value(struct strbuf *sb, struct folded_count c, const char *unit, bool exact,
                       size_t width)
{
    struct strbuf text = STRBUF_INIT;

    if (exact || !value_add_human(&text, c, unit)) {
        value_add_number(&text, c, true);
        if (!exact && strcmp(unit, "bytes") == 0)
            strbuf_addstr(&text, "   B"); /* in line with KiB and MiB */
    }
    toptext_add_right(sb, text.buf, width);
    strbuf_release(&text);
}

void toptext_add_share(struct strbuf *sb, struct folded_count c, double all)
{
    struct strbuf text = STRBUF_INIT;

    value_add_percent(&text, folded_count_double(c), all);
    toptext_add_right(sb, text.buf, 9);
    strbuf_release(&text);
}

void toptext_add_columns(struct strbuf *sb, size_t width, const char *last)
{
    toptext_add_right(sb, "self", width);
    toptext_add_right(sb, "self%", 9);
    toptext_add_right(sb, "total", width + 2);
    toptext_add_right(sb, "total%", 9);
    strbuf_addf(sb, "  %s", last);
}
