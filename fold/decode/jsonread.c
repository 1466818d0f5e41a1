#include "fold/decode/jsonread.h"

#include "common/utf8.h"

char json_peek(struct json *j)
{
    while (j->s < j->end && strchr(" \t\r\n", *j->s) && *j->s)
        j->s++;
    if (j->bad || j->s == j->end)
        return 0;
    if (*j->s == '-' || is_digit_ch(*j->s))
        return '0';
    if (*j->s == 't' || *j->s == 'f' || *j->s == 'n')
        return 't';
    return *j->s;
}

static bool fail(struct json *j)
{
    j->bad = true;
    return false;
}

bool json_enter(struct json *j, char what)
{
    if (json_peek(j) != what)
        return fail(j);
    j->s++;
    return true;
}

/* At the end of a member: true if another follows. A comma before the end is let pass. */
static bool another(struct json *j, char close)
{
    char c = json_peek(j);

    if (c == ',') {
        j->s++;
        c = json_peek(j);
    }
    if (c == close) {
        j->s++;
        return false;
    }
    return c != 0 || fail(j);
}

bool json_key(struct json *j, struct strbuf *key)
{
    if (!another(j, '}') || !json_string(j, key))
        return false;
    if (json_peek(j) != ':')
        return fail(j);
    j->s++;
    return true;
}

bool json_item(struct json *j)
{
    return another(j, ']');
}

static void add_utf8(struct strbuf *sb, uint32_t cp)
{
    char bytes[4];

    strbuf_add(sb, bytes, utf8_encode(bytes, cp));
}

static bool hex4(struct json *j, uint32_t *out)
{
    *out = 0;
    if (j->end - j->s < 4)
        return false;
    for (int i = 0; i < 4; i++, j->s++) {
        char c = *j->s;

        if (!is_hex_ch(c))
            return false;
        *out = *out << 4 | (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return true;
}

static bool escape(struct json *j, struct strbuf *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    uint32_t cp, low;
    const char *at;

    if (j->s == j->end)
        return false;
    if (*j->s != 'u') {
        at = *j->s ? strchr(from, *j->s) : NULL;
        if (!at)
            return false;
        j->s++;
        strbuf_addch(out, to[at - from]);
        return true;
    }
    j->s++;
    if (!hex4(j, &cp))
        return false;
    if (cp >= 0xd800 && cp < 0xdc00 && j->end - j->s >= 6 && j->s[0] == '\\' && j->s[1] == 'u') {
        j->s += 2;
        if (!hex4(j, &low))
            return false;
        if (low >= 0xdc00 && low < 0xe000)
            cp = 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
    }
    /* Half a surrogate pair comes out as bytes that are no UTF-8; names are made safe later. */
    add_utf8(out, cp);
    return true;
}

bool json_string(struct json *j, struct strbuf *out)
{
    strbuf_clear(out);
    if (json_peek(j) != '"')
        return fail(j);
    for (j->s++; j->s < j->end && *j->s != '"';) {
        if (*j->s == '\\') {
            j->s++;
            if (!escape(j, out))
                return fail(j);
        } else {
            const char *start = j->s;

            while (j->s < j->end && *j->s != '"' && *j->s != '\\')
                j->s++;
            strbuf_add(out, start, (size_t)(j->s - start));
        }
    }
    if (j->s == j->end)
        return fail(j);
    j->s++;
    return true;
}

bool json_number(struct json *j, struct span *out)
{
    const char *start;

    if (json_peek(j) != '0')
        return fail(j);
    start = j->s;
    while (j->s < j->end && *j->s && strchr("+-.eE0123456789", *j->s))
        j->s++;
    *out = (struct span){start, (size_t)(j->s - start)};
    return true;
}

void json_skip(struct json *j)
{
    struct strbuf text = STRBUF_INIT;
    struct span number;
    size_t depth = 0;

    do {
        char c = json_peek(j);

        if (c == '{' || c == '[') {
            depth++;
            j->s++;
        } else if ((c == '}' || c == ']') && depth > 0) {
            depth--;
            j->s++;
        } else if (c == '"') {
            json_string(j, &text);
        } else if (c == '0') {
            json_number(j, &number);
        } else if (c == 't') {
            j->s += span_word((struct span){j->s, (size_t)(j->end - j->s)});
        } else if ((c == ',' || c == ':') && depth > 0) {
            j->s++;
        } else {
            fail(j);
        }
    } while (depth > 0 && !j->bad);
    strbuf_release(&text);
}
