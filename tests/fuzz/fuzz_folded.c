/*
 * Any bytes as folded text: every line parsed, every key looked up, and what
 * folded_add_frame makes of the input must read back as one frame.
 */
#include <stdlib.h>

#include "common/folded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *s = (const char *)data, *value;
    struct strbuf sb = STRBUF_INIT;
    struct folded_line f;
    size_t n;

    for (size_t at = 0; at < size;) {
        const char *nl = memchr(s + at, '\n', size - at);
        size_t len = nl ? (size_t)(nl - s) - at : size - at;

        if (folded_parse_line(s + at, len, &f) == 1 &&
            (f.stack != s + at || f.len >= len || f.count.part < 0 || f.count.part >= 1))
            abort();
        if (folded_find_meta(s + at, len, "unit", &value, &n) && value + n > s + at + len)
            abort();
        at += len + 1;
    }
    folded_add_frame(&sb, s, size);
    n = sb.len;
    strbuf_addstr(&sb, " 1");
    if (folded_parse_line(sb.buf, sb.len, &f) != 1 || f.differential || f.len != n ||
        memchr(sb.buf, ';', sb.len) || memchr(sb.buf, '\n', sb.len))
        abort();
    strbuf_release(&sb);
    return 0;
}
