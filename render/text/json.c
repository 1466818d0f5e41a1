#include "render/text/json.h"

#include "common/utf8.h"
#include "render/text/xml.h"

/* The number of bytes at the beginning that need no escape: nearly all of nearly every name. */
static size_t plain(const char *s, size_t len)
{
    size_t n = 0;

    while (n < len && s[n] >= ' ' && s[n] < 0x7f && s[n] != '"' && s[n] != '\\' && s[n] != '<' &&
           s[n] != '>' && s[n] != '&')
        n++;
    return n;
}

void json_add_string(struct strbuf *sb, const char *s, size_t len, size_t max_chars)
{
    size_t chars = 0;

    strbuf_addch(sb, '"');
    for (size_t i = 0; i < len; chars++) {
        uint32_t cp = 0;
        size_t n = max_chars ? 0 : plain(s + i, len - i);

        if (n) {
            strbuf_add(sb, s + i, n);
            i += n;
            continue;
        }
        n = utf8_decode(s + i, len - i, &cp);
        if (max_chars && chars == max_chars) {
            strbuf_addstr(sb, "\xe2\x80\xa6");
            break;
        }
        if (n == 0 || !xml_allows(cp))
            strbuf_addstr(sb, UTF8_REPLACEMENT);
        else if (cp == '"' || cp == '\\')
            strbuf_addf(sb, "\\%c", (char)cp);
        else if (cp == '<' || cp == '>' || cp == '&')
            strbuf_addf(sb, "\\u%04x", cp);
        else
            strbuf_add(sb, s + i, n);
        i += n ? n : 1;
    }
    strbuf_addch(sb, '"');
}
