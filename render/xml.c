#include "render/xml.h"

#include "common/utf8.h"

/* What must not reach a page: XML 1.0 2.2 [2], and Unicode's bidirectional controls. */
bool xml_allows(uint32_t cp)
{
    return !utf8_is_control(cp) && (cp & 0xfffe) != 0xfffe && (cp < 0x202a || cp > 0x202e) &&
           (cp < 0x2066 || cp > 0x2069);
}

void xml_add(struct strbuf *sb, const char *s, size_t len, size_t max_chars)
{
    size_t chars = 0;

    for (size_t i = 0; i < len; chars++) {
        uint32_t cp = 0;
        size_t n = utf8_decode(s + i, len - i, &cp);

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
