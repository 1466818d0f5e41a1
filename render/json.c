#include "render/json.h"

#include "common/utf8.h"
#include "render/xml.h"

void json_add_string(struct strbuf *sb, const char *s, size_t len, size_t max_chars)
{
    size_t chars = 0;

    strbuf_addch(sb, '"');
    for (size_t i = 0; i < len; chars++) {
        uint32_t cp = 0;
        size_t n = utf8_decode(s + i, len - i, &cp);

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
