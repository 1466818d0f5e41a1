/* Numbers packed into base64, and bytes as JSON strings. */
#include "render/json.h"
#include "common/packed.h"
#include "tests/tap.h"

static void is_packed(const uint64_t *v, size_t n, const char *want, const char *what)
{
    struct strbuf sb = STRBUF_INIT;
    struct packed p;

    packed_begin(&p, &sb);
    for (size_t i = 0; i < n; i++)
        packed_add(&p, v[i]);
    packed_end(&p);
    is_str(sb.buf, want, "%s", what);
    strbuf_release(&sb);
}

static void test_packed(void)
{
    static const uint64_t small[] = {0, 1, 127}, one[] = {77}, two[] = {77, 97};
    static const uint64_t large[] = {128, 300, UINT64_MAX};
    struct strbuf sb = STRBUF_INIT;
    struct packed p;

    is_packed(NULL, 0, "", "nothing");
    is_packed(small, 3, "AAF/", "three bytes");
    is_packed(one, 1, "TQ==", "one byte and padding");
    is_packed(two, 2, "TWE=", "two bytes and padding");
    /* 80 01, ac 02, nine times ff and 01 */
    is_packed(large, 3, "gAGsAv///////////wE=", "seven bits a byte");
    packed_begin(&p, &sb);
    packed_add_signed(&p, 0);
    packed_add_signed(&p, -1);
    packed_add_signed(&p, 1);
    packed_end(&p);
    is_str(sb.buf, "AAEC", "signs");
    strbuf_clear(&sb);
    packed_begin(&p, &sb);
    packed_add_signed(&p, INT64_MIN);
    packed_end(&p);
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

int main(void)
{
    test_packed();
    test_json();
    return done_testing();
}
