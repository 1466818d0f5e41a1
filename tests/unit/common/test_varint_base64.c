/* Numbers packed into base64, and bytes as JSON strings. */
#include <inttypes.h>

#include "common/trace/varint_base64.h"
#include "render/text/json.h"
#include "tests/tap.h"

static void is_packed(const uint64_t *v, size_t n, const char *want, const char *what)
{
    struct strbuf sb = STRBUF_INIT;
    struct varint_writer p;

    varint_begin(&p, &sb);
    for (size_t i = 0; i < n; i++)
        varint_add(&p, v[i]);
    varint_end(&p);
    is_str(sb.buf, want, "%s", what);
    strbuf_release(&sb);
}

static void test_packed(void)
{
    static const uint64_t small[] = {0, 1, 127}, one[] = {77}, two[] = {77, 97};
    static const uint64_t large[] = {128, 300, UINT64_MAX};
    struct strbuf sb = STRBUF_INIT;
    struct varint_writer p;

    is_packed(NULL, 0, "", "no numbers are packed as an empty text");
    is_packed(small, 3, "AAF/", "three numbers of a byte are packed");
    is_packed(one, 1, "TQ==", "one byte is packed with two characters of padding");
    is_packed(two, 2, "TWE=", "two bytes are packed with one character of padding");
    /* 80 01, ac 02, nine times ff and 01 */
    is_packed(large, 3, "gAGsAv///////////wE=", "large numbers are packed in seven bits a byte");
    varint_begin(&p, &sb);
    varint_add_signed(&p, 0);
    varint_add_signed(&p, -1);
    varint_add_signed(&p, 1);
    varint_end(&p);
    is_str(sb.buf, "AAEC", "signed numbers are packed");
    strbuf_clear(&sb);
    varint_begin(&p, &sb);
    varint_add_signed(&p, INT64_MIN);
    varint_end(&p);
    is_str(sb.buf, "////////////AQ==", "INT64_MIN is packed");
    strbuf_release(&sb);
}

static void is_json(const char *s, size_t len, size_t max, const char *want, const char *what)
{
    struct strbuf sb = STRBUF_INIT;

    json_add_string(&sb, s, len, max);
    is_str(sb.buf, want, "%s", what);
    strbuf_release(&sb);
}

static void test_json(void)
{
    is_json("", 0, 0, "\"\"", "JSON: an empty string");
    is_json("a\"b\\c/", 6, 0, "\"a\\\"b\\\\c/\"", "JSON: quotes and backslashes are escaped");
    is_json("</script><!--&", 14, 0, "\"\\u003c/script\\u003e\\u003c!--\\u0026\"",
            "JSON: markup characters are escaped");
    is_json("a\0b\n\x7f", 5, 0,
            "\"a\xef\xbf\xbd"
            "b\xef\xbf\xbd\xef\xbf\xbd\"",
            "JSON: control characters are replaced");
    is_json("\xff\xc3\xa9\xe2\x80\xae", 6, 0, "\"\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\"",
            "JSON: invalid UTF-8 and bidirectional marks are replaced");
    is_json("abcdef", 6, 3, "\"abc\xe2\x80\xa6\"", "JSON: a long string is truncated");
    is_json("abc", 3, 3, "\"abc\"", "JSON: a string of the longest length is complete");
}

/* Numbers that the reader finds in a text: "1 2 3", or "wrong" if it is not whole. */
static void is_read(const char *text, const char *want, const char *what)
{
    struct strbuf sb = STRBUF_INIT;
    struct varint_reader r;
    uint64_t v;

    strbuf_addstr(&sb, "");
    varint_read(&r, text, strlen(text));
    while (varint_take(&r, &v))
        strbuf_addf(&sb, "%s%" PRIu64, sb.len ? " " : "", v);
    is_str(r.wrong ? "wrong" : sb.buf, want, "%s", what);
    strbuf_release(&sb);
}

static void test_reading(void)
{
    struct varint_reader r;
    int64_t v;

    is_read("", "", "an empty text has no numbers");
    is_read("AAF/", "0 1 127", "three numbers of a byte are read");
    is_read("TQ==", "77", "one byte with padding is read");
    is_read("TQ", "77", "one byte without padding is read");
    is_read("TWE=", "77 97", "two bytes with padding are read");
    is_read("gAGsAv///////////wE=", "128 300 18446744073709551615",
            "numbers in seven bits a byte are read");
    is_read("////////////Ag==", "wrong", "a number of more than 64 bits is refused");
    is_read("gA==", "wrong", "an endless number is refused");
    is_read("AAF/A", "wrong", "an excess character is refused");
    is_read("A*F/", "wrong", "a character outside of base64 is refused");
    is_read("AA\n/", "wrong", "a newline is refused");
    varint_read(&r, "AAEC", 4);
    ok(varint_take_signed(&r, &v) && v == 0 && varint_take_signed(&r, &v) && v == -1 &&
           varint_take_signed(&r, &v) && v == 1 && !varint_take_signed(&r, &v) && !r.wrong,
       "signed numbers are read");
    varint_read(&r, "////////////AQ==", 16);
    ok(varint_take_signed(&r, &v) && v == INT64_MIN, "INT64_MIN is read");
}

int main(void)
{
    test_packed();
    test_reading();
    test_json();
    return done_testing();
}
