/*
 * Folded text: splits one line into its parts.
 *
 * Problem: the count is at the end of the line and names may hold blanks and digits, so a line can
 * only be read from its end. We walk back over the number, demand one blank before it, and do so
 * once more for the first count of a differential line, as flamegraph.pl's regular expression does
 * (`^(.*)\s+?(\d+(?:\.\d*)?)$`, applied twice): exactly one blank belongs to the separator, more of
 * them belong to the name.
 *
 * Rejected: strtod. It takes signs, hex, exponents, "inf" and the locale's comma, none of which is
 * a count, and it rounds integers beyond 2^53.
 */
#include "common/folded.h"

#include <stdio.h>

#include "common/utf8.h"

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/*
 * Where the number ending at `end` begins, or `end` when there is none. A number
 * is digits, or digits '.' with or without more digits.
 */
static size_t number_start(const char *s, size_t end)
{
    size_t i = end;

    while (i > 0 && is_digit(s[i - 1]))
        i--;
    if (i > 1 && s[i - 1] == '.' && is_digit(s[i - 2])) {
        i--;
        while (i > 0 && is_digit(s[i - 1]))
            i--;
    }
    return i;
}

static struct folded_count read_count(const char *s, size_t len)
{
    struct folded_count c = {0, 0};
    double scale = 0.1;
    size_t i = 0;

    for (; i < len && s[i] != '.'; i++)
        if (__builtin_mul_overflow(c.whole, 10u, &c.whole) ||
            __builtin_add_overflow(c.whole, (uint64_t)(s[i] - '0'), &c.whole))
            return (struct folded_count){UINT64_MAX, 0};
    /* Eighteen digits are more than a double can hold. */
    for (size_t n = 0; ++i < len && n < 18; n++, scale /= 10)
        c.part += (s[i] - '0') * scale;
    if (c.part >= 1) /* .999999999999999999 rounds up */
        c.part = 0x1.fffffffffffffp-1;
    return c;
}

/* Takes a count off the end of s[0..*len). */
static bool take_count(const char *s, size_t *len, struct folded_count *count)
{
    size_t start = number_start(s, *len);

    if (start == *len || start == 0 || !is_blank(s[start - 1]))
        return false;
    *count = read_count(s + start, *len - start);
    *len = start - 1;
    return true;
}

int folded_parse_line(const char *s, size_t len, struct folded_line *out)
{
    while (len > 0 && is_blank(s[len - 1]))
        len--;
    if (len == 0)
        return 0;
    out->stack = s;
    out->len = len;
    if (!take_count(s, &out->len, &out->count))
        return s[0] == '#' && (len == 1 || is_blank(s[1])) ? 0 : -1;
    out->one_len = out->len;
    out->differential = take_count(s, &out->len, &out->count1);
    if (!out->differential)
        out->count1 = out->count;
    return 1;
}

bool folded_is_too_deep(const char *s, size_t len)
{
    size_t frames = 1;

    if (likely(len < FOLDED_FRAMES_MAX))
        return false;
    while (len > 0 && s[len - 1] == ';')
        len--;
    for (size_t i = 0; i < len; i++)
        frames += s[i] == ';';
    return frames > FOLDED_FRAMES_MAX;
}

bool folded_find_meta(const char *s, size_t len, const char *key, const char **value,
                      size_t *value_len)
{
    static const char head[] = "# flame:";
    size_t key_len = strlen(key);
    size_t i = sizeof head - 1;

    if (len < i || memcmp(s, head, i) != 0)
        return false;
    while (i < len) {
        size_t word;

        while (i < len && is_blank(s[i]))
            i++;
        word = i;
        while (i < len && !is_blank(s[i]))
            i++;
        if (i - word > key_len && s[word + key_len] == '=' && memcmp(s + word, key, key_len) == 0) {
            *value = s + word + key_len + 1;
            *value_len = i - word - key_len - 1;
            return true;
        }
    }
    return false;
}

bool folded_ends_in_count(const char *name, size_t len)
{
    size_t start = number_start(name, len);

    return start > 0 && start < len && is_blank(name[start - 1]);
}

void folded_add_frame(struct strbuf *sb, const char *name, size_t len)
{
    size_t begin = sb->len, start;

    strbuf_grow(sb, len);
    for (size_t i = 0; i < len;) {
        uint32_t cp = 0;
        size_t n = utf8_decode(name + i, len - i, &cp);

        if (n == 0)
            strbuf_addstr(sb, UTF8_REPLACEMENT);
        else if (utf8_is_control(cp))
            strbuf_addch(sb, ' ');
        else if (cp == ';')
            strbuf_addch(sb, ':');
        else
            strbuf_add(sb, name + i, n);
        i += n ? n : 1;
    }
    start = number_start(sb->buf + begin, sb->len - begin);
    if (start > 0 && start < sb->len - begin && sb->buf[begin + start - 1] == ' ')
        sb->buf[begin + start - 1] = '_';
}

void folded_count_add(struct folded_count *a, struct folded_count b)
{
    a->part += b.part;
    if (a->part >= 1) {
        a->part -= 1;
        b.whole += b.whole < UINT64_MAX;
    }
    if (__builtin_add_overflow(a->whole, b.whole, &a->whole))
        a->whole = UINT64_MAX;
}

void folded_add_count(struct strbuf *sb, struct folded_count c)
{
    char digits[20], part[24] = "";
    size_t at = sizeof digits, n = 0;

    if (c.part > 0) {
        n = (size_t)snprintf(part, sizeof part, "%.15f", c.part);
        while (part[n - 1] == '0')
            n--;
        if (part[0] == '1') /* rounded up */
            c.whole += c.whole < UINT64_MAX;
    }
    do
        digits[--at] = (char)('0' + c.whole % 10);
    while (c.whole /= 10);
    strbuf_add(sb, digits + at, sizeof digits - at);
    if (n > 2)
        strbuf_add(sb, part + 1, n - 1);
}
