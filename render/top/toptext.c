#include "render/top/toptext.h"

#include <math.h>
#include <string.h>

#include "common/termtext.h"
#include "render/text/value.h"

void toptext_add_name(struct strbuf *sb, const char *s, size_t len, size_t columns)
{
    size_t used = 0, keep = sb->len;

    for (size_t i = 0; i < len;) {
        struct termtext c;
        size_t n = termtext_next(s + i, len - i, &c);
        size_t wide = *c.escaped ? strlen(c.escaped) : c.cp >= 0x1100 ? 2 : 1;

        if (columns && used + wide > columns) {
            strbuf_setlen(sb, keep);
            strbuf_addstr(sb, "\xe2\x80\xa6");
            return;
        }
        used += wide;
        if (*c.escaped)
            strbuf_addstr(sb, c.escaped);
        else
            strbuf_add(sb, s + i, n);
        if (!columns || used < columns) /* room for "…" behind this one */
            keep = sb->len;
        i += n;
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

void toptext_add_change(struct strbuf *sb, double change, double before, const char *unit,
                        bool exact, size_t width)
{
    struct folded_count c = {(uint64_t)fabs(change), fabs(change) - floor(fabs(change))};
    struct strbuf text = STRBUF_INIT;
    bool bytes = !exact && strcmp(unit, "bytes") == 0;

    if (change != 0)
        strbuf_addch(&text, change > 0 ? '+' : '-');
    if (exact || !value_add_human(&text, c, unit)) {
        value_add_number(&text, c, true);
        strbuf_addstr(&text, bytes ? "   B" : "");
    }
    toptext_add_right(sb, text.buf, width);
    strbuf_clear(&text);
    if (before > 0 && change != 0)
        strbuf_addch(&text, change > 0 ? '+' : '-');
    if (before > 0 || change == 0)
        value_add_percent(&text, fabs(change), before);
    else
        strbuf_addstr(&text, "new");
    toptext_add_right(sb, text.buf, 10);
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
