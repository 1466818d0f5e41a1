/* XML piece by piece; see xmlread.h. */
#include "fold/decode/xmlread.h"

#include "common/utf8.h"

void xml_init(struct xml *x, const char *text, size_t len)
{
    *x = (struct xml){.s = text, .end = text + len, .value = STRBUF_INIT};
    if (span_begins((struct span){text, len}, "\xef\xbb\xbf"))
        x->s += 3;
}

void xml_release(struct xml *x)
{
    strbuf_release(&x->value);
}

static enum xml_event fail(struct xml *x, const char *why)
{
    if (!x->wrong)
        x->wrong = why;
    return XML_END;
}

static struct span left(const struct xml *x)
{
    return (struct span){x->s, (size_t)(x->end - x->s)};
}

static size_t name_len(struct span s)
{
    size_t n = 0;

    while (n < s.len && (is_word_ch(s.s[n]) || s.s[n] == '-' || s.s[n] == '.' || s.s[n] == ':' ||
                         (unsigned char)s.s[n] >= 0x80))
        n++;
    return n;
}

/* The character of "#38" or "#x26"; false when XML has no such character. */
static bool by_number(struct span s, uint32_t *out)
{
    bool hex = span_begins(s, "#x");

    s = span_from(s, hex ? 2 : 1);
    if (s.len == 0 || s.len > 8 || (hex ? span_hex(s) : span_digits(s)) != s.len)
        return false;
    *out = 0;
    for (size_t i = 0; i < s.len; i++)
        *out = *out * (hex ? 16 : 10) +
               (uint32_t)(is_digit_ch(s.s[i]) ? s.s[i] - '0' : (s.s[i] | 0x20) - 'a' + 10);
    return *out > 0 && *out < 0x110000 && (*out < 0xd800 || *out > 0xdfff);
}

/* Appends the character of a reference: the text between '&' and ';'. */
static bool add_reference(struct strbuf *out, struct span s)
{
    static const struct {
        const char *name;
        char ch;
    } known[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
    uint32_t code;
    char bytes[4];

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (span_is(s, known[i].name)) {
            strbuf_addch(out, known[i].ch);
            return true;
        }
    if (!span_begins(s, "#") || !by_number(s, &code))
        return false;
    strbuf_add(out, bytes, utf8_encode(bytes, code));
    return true;
}

/* Adds text with its references replaced; false when one is not valid. */
static bool add_text(struct strbuf *out, struct span s)
{
    while (s.len > 0) {
        size_t amp = span_chr(s, '&'), semicolon;
        struct span plain = span_to(s, amp);

        strbuf_add(out, plain.s, plain.len);
        s = span_from(s, plain.len);
        if (s.len == 0)
            break;
        semicolon = span_chr(span_to(s, 12), ';');
        if (semicolon == SIZE_MAX || !add_reference(out, span_to(span_from(s, 1), semicolon - 1)))
            return false;
        s = span_from(s, semicolon + 1);
    }
    return true;
}

/* Passes text that begins with `open` and ends with `close`; *inside is the text between them. */
static bool pass(struct xml *x, const char *open, const char *close, struct span *inside)
{
    struct span rest = left(x);
    const char *end;

    if (!span_begins(rest, open))
        return false;
    rest = span_from(rest, strlen(open));
    end = span_find(rest, close);
    if (!end) {
        fail(x, "something begins here that does not end");
        return false;
    }
    *inside = span_to(rest, (size_t)(end - rest.s));
    x->s = end + strlen(close);
    return true;
}

/* Passes ' name="value"'; false when the text has another form. */
static bool pass_attribute(struct xml *x)
{
    struct span rest = left(x);
    size_t blanks = span_blanks(rest), name, end;
    char quote;

    rest = span_from(rest, blanks);
    name = name_len(rest);
    if (blanks == 0 || name == 0)
        return false;
    rest = span_from(rest, name);
    rest = span_from(rest, span_blanks(rest));
    if (!span_begins(rest, "="))
        return false;
    rest = span_ltrim(span_from(rest, 1));
    quote = rest.len ? rest.s[0] : 0;
    end = span_chr(span_from(rest, 1), quote);
    if ((quote != '"' && quote != '\'') || end == SIZE_MAX ||
        span_chr(span_to(span_from(rest, 1), end), '<') != SIZE_MAX)
        return false;
    x->s = rest.s + end + 2;
    return true;
}

static enum xml_event open_element(struct xml *x)
{
    const char *begin;

    x->name = span_from(left(x), 1);
    x->name = span_to(x->name, name_len(x->name));
    if (x->name.len == 0)
        return fail(x, "a '<' begins no element");
    if (x->depth == XML_DEPTH)
        return fail(x, "elements lie more than 64 deep");
    begin = x->s += 1 + x->name.len;
    while (pass_attribute(x))
        continue;
    x->attributes = (struct span){begin, (size_t)(x->s - begin)};
    x->s += span_blanks(left(x));
    x->closing = span_begins(left(x), "/>");
    if (!x->closing && !span_begins(left(x), ">"))
        return fail(x, "an element's tag is wrong");
    x->s += x->closing ? 2 : 1;
    x->open[x->depth++] = x->name;
    return XML_OPEN;
}

static enum xml_event close_element(struct xml *x)
{
    struct span name, open;

    if (x->depth == 0)
        return fail(x, "an element ends that did not begin");
    open = x->name = x->open[--x->depth];
    if (x->closing) {
        x->closing = false;
        return XML_CLOSE;
    }
    name = span_from(left(x), 2);
    name = span_to(name, name_len(name));
    if (name.len != open.len || memcmp(name.s, open.s, open.len) != 0)
        return fail(x, "another element ends than began last");
    x->s += 2 + name.len;
    x->s += span_blanks(left(x));
    if (!span_begins(left(x), ">"))
        return fail(x, "an element's end has no '>'");
    x->s++;
    return XML_CLOSE;
}

static enum xml_event text(struct xml *x)
{
    struct span s = span_to(left(x), span_chr(left(x), '<'));

    strbuf_clear(&x->value);
    if (!add_text(&x->value, s))
        return fail(x, "a reference ('&') is none of XML's own");
    x->s += s.len;
    return XML_TEXT;
}

enum xml_event xml_next(struct xml *x)
{
    struct span inside;

    while (!x->wrong) {
        if (x->closing)
            return close_element(x);
        if (x->s == x->end)
            return x->depth ? fail(x, "the text ends inside an element") : XML_END;
        if (*x->s != '<')
            return text(x);
        if (pass(x, "<!--", "-->", &inside) || pass(x, "<?", "?>", &inside))
            continue;
        if (pass(x, "<![CDATA[", "]]>", &inside)) {
            strbuf_clear(&x->value);
            strbuf_add(&x->value, inside.s, inside.len);
            return XML_TEXT;
        }
        if (span_begins(left(x), "<!"))
            return fail(x, "has a document type or a declaration, which is not read");
        return span_begins(left(x), "</") ? close_element(x) : open_element(x);
    }
    return XML_END;
}

bool xml_attribute(struct xml *x, const char *name, struct strbuf *out)
{
    struct span rest = x->attributes;

    strbuf_clear(out);
    while ((rest = span_ltrim(rest)).len) {
        struct span key = span_to(rest, name_len(rest)), value;

        rest = span_from(rest, span_chr(rest, '='));
        rest = span_ltrim(span_from(rest, 1));
        if (rest.len == 0)
            break;
        value = span_from(rest, 1);
        value = span_to(value, span_chr(value, rest.s[0]));
        rest = span_from(rest, value.len + 2);
        if (!span_is(key, name))
            continue;
        if (add_text(out, value))
            return true;
        fail(x, "a reference ('&') is none of XML's own");
        break;
    }
    return false;
}
