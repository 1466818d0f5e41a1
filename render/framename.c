#include "render/framename.h"

#include "common/utf8.h"
#include "render/palette.h"
#include "render/text/xml.h"

static bool is_file(const char *s, size_t len)
{
    bool file = false;

    for (size_t i = 0; i < len; i++) {
        if (strchr("()<>[]{}:;,*&|\"'`", s[i]))
            return false;
        file |= (s[i] == '.' && i + 1 < len) || s[i] == '/';
    }
    return file;
}

struct framename framename_split(const char *name, size_t len)
{
    size_t n = palette_strip_mark(name, len), digits, colon, word;
    struct framename f = {.mark = n < len ? name[len - 2] : 0};
    uint64_t line = 0;

    f.function = name;
    f.function_len = n;
    for (digits = n; digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9';)
        digits--;
    colon = digits - 1;
    if (digits == n || n - digits > 9 || digits < 2 || name[colon] != ':')
        return f;
    for (word = colon; word > 0 && name[word - 1] != ' ';)
        word--;
    /* A place alone would leave no function. */
    if (word < 2 || !is_file(name + word, colon - word))
        return f;
    for (size_t i = digits; i < n; i++)
        line = line * 10 + (uint64_t)(name[i] - '0');
    f.function_len = word - 1;
    f.file = name + word;
    f.file_len = colon - word;
    f.line = (uint32_t)line;
    return f;
}

void framename_add_function(struct strbuf *sb, const struct framename *f)
{
    strbuf_add(sb, f->function, f->function_len);
    if (f->mark)
        strbuf_addf(sb, "_[%c]", f->mark);
}

void framename_add_clean(struct strbuf *sb, const char *s, size_t len)
{
    size_t from = 0, i = 0;

    while (i < len) {
        uint32_t cp = 0;
        size_t n;

        if (s[i] >= 0x20 && s[i] < 0x7f) {
            i++;
            continue;
        }
        n = utf8_decode(s + i, len - i, &cp);
        if (n == 0 || !xml_allows(cp)) {
            strbuf_add(sb, s + from, i - from);
            strbuf_addstr(sb, n && utf8_is_control(cp) ? " " : UTF8_REPLACEMENT);
            from = i + (n ? n : 1);
        }
        i += n ? n : 1;
    }
    strbuf_add(sb, s + from, len - from);
}
