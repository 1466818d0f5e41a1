#include "render/text/xml.h"

#include "common/utf8.h"

/* Excludes the characters that must not reach a page: those outside XML 1.0 2.2 [2], and
 * Unicode's bidirectional controls. */
bool xml_allows(uint32_t cp)
{
    return !utf8_is_control(cp) && (cp & 0xfffe) != 0xfffe && (cp < 0x202a || cp > 0x202e) &&
           (cp < 0x2066 || cp > 0x2069);
}

/* The number of characters from s on that need no escape. Most names need none at all. */
static size_t plain_run(const char *s, size_t len)
{
    static const bool special[128] = {
        ['&'] = true, ['<'] = true, ['>'] = true, ['"'] = true, ['\''] = true, [0x7f] = true};
    size_t i = 0;

    while (i < len && (unsigned char)(s[i] - 0x20) < 0x60 && !special[(unsigned char)s[i]])
        i++;
    return i;
}

void xml_add(struct strbuf *sb, const char *s, size_t len, size_t max_chars)
{
    size_t chars = 0;

    for (size_t i = 0; i < len; chars++) {
        uint32_t cp = 0;
        size_t left = max_chars && max_chars - chars < len - i ? max_chars - chars : len - i;
        size_t n = plain_run(s + i, left);

        if (n > 0) {
            strbuf_add(sb, s + i, n);
            i += n;
            chars += n - 1;
            continue;
        }
        n = utf8_decode(s + i, len - i, &cp);
        if (max_chars && chars == max_chars) {
            strbuf_addstr(sb, "\xe2\x80\xa6");
            return;
        }
        if (n == 0 || !xml_allows(cp))
            strbuf_addstr(sb, UTF8_REPLACEMENT);
        else if (cp == '&')
            strbuf_addstr(sb, "&amp;");
        else if (cp == '<')
            strbuf_addstr(sb, "&lt;");
        else if (cp == '>')
            strbuf_addstr(sb, "&gt;");
        else if (cp == '"')
            strbuf_addstr(sb, "&quot;");
        else if (cp == '\'')
            strbuf_addstr(sb, "&#39;");
        else
            strbuf_add(sb, s + i, n);
        i += n ? n : 1;
    }
}
