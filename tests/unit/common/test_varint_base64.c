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

    is_packed(NULL, 0, "", "nothing");
    is_packed(small, 3, "AAF/", "three bytes");
    is_packed(one, 1, "TQ==", "one byte and padding");
    is_packed(two, 2, "TWE=", "two bytes and padding");
    /* 80 01, ac 02, nine times ff and 01 */
    is_packed(large, 3, "gAGsAv///////////wE=", "seven bits a byte");
    varint_begin(&p, &sb);
    varint_add_signed(&p, 0);
    varint_add_signed(&p, -1);
    varint_add_signed(&p, 1);
    varint_end(&p);
    is_str(sb.buf, "AAEC", "signs");
    strbuf_clear(&sb);
    varint_begin(&p, &sb);
    varint_add_signed(&p, INT64_MIN);
    varint_end(&p);
    is_str(sb.buf, "////////////AQ==", "the least of all");
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
    is_json("", 0, 0, "\"\"", "an empty string");
    is_json("a\"b\\c/", 6, 0, "\"a\\\"b\\\\c/\"", "quotes and backslashes");
    is_json("</script><!--&", 14, 0, "\"\\u003c/script\\u003e\\u003c!--\\u0026\"", "markup");
    is_json("a\0b\n\x7f", 5, 0,
            "\"a\xef\xbf\xbd"
            "b\xef\xbf\xbd\xef\xbf\xbd\"",
            "control characters");
    is_json("\xff\xc3\xa9\xe2\x80\xae", 6, 0, "\"\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\"",
            "broken UTF-8, UTF-8, and a mark that turns text around");
    is_json("abcdef", 6, 3, "\"abc\xe2\x80\xa6\"", "cut");
    is_json("abc", 3, 3, "\"abc\"", "not cut");
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

    is_read("", "", "nothing");
    is_read("AAF/", "0 1 127", "three bytes");
    is_read("TQ==", "77", "one byte and padding");
    is_read("TQ", "77", "one byte and none");
    is_read("TWE=", "77 97", "two bytes");
    is_read("gAGsAv///////////wE=", "128 300 18446744073709551615", "seven bits a byte");
    is_read("////////////Ag==", "wrong", "more than 64 bits");
    is_read("gA==", "wrong", "a number that does not end");
    is_read("AAF/A", "wrong", "a character too many");
    is_read("A*F/", "wrong", "a character that is none");
    is_read("AA\n/", "wrong", "nor is a newline");
    varint_read(&r, "AAEC", 4);
    ok(varint_take_signed(&r, &v) && v == 0 && varint_take_signed(&r, &v) && v == -1 &&
           varint_take_signed(&r, &v) && v == 1 && !varint_take_signed(&r, &v) && !r.wrong,
       "signs");
    varint_read(&r, "////////////AQ==", 16);
    ok(varint_take_signed(&r, &v) && v == INT64_MIN, "the least of all");
}

int main(void)
{
    test_packed();
    test_reading();
    test_json();
    return done_testing();
}
