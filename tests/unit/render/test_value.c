/* Numbers and names as people and XML parsers read them. */
#include "render/top/toplist.h"
#include "render/text/value.h"
#include "render/text/xml.h"
#include "tests/tap.h"

static const char *text(void (*add)(struct strbuf *, struct folded_count, const char *),
                        struct folded_count c, const char *unit)
{
    static struct strbuf sb = STRBUF_INIT;

    strbuf_clear(&sb);
    add(&sb, c, unit);
    return sb.buf;
}

static void both(struct strbuf *sb, struct folded_count c, const char *unit)
{
    value_add_both(sb, c, unit);
}

static void plain(struct strbuf *sb, struct folded_count c, const char *unit)
{
    value_add_number(sb, c, strcmp(unit, ",") == 0);
}

static void fixed(struct strbuf *sb, struct folded_count c, const char *unit)
{
    value_add_fixed2(sb, *unit == '-' ? -folded_count_double(c) : folded_count_double(c));
}

static void is_value(uint64_t whole, double part, const char *unit, const char *want)
{
    is_str(text(both, (struct folded_count){whole, part}, unit), want, "%s", want);
}

static void test_units(void)
{
    is_value(0, 0, "samples", "0 samples");
    is_value(1234, 0, "calls", "1,234 calls");
    is_value(999, 0, "bytes", "999 bytes");
    is_value(1023, 0, "bytes", "1,023 bytes");
    is_value(1024, 0, "bytes", "1.00 KiB, 1,024 bytes");
    is_value(1572864, 0, "bytes", "1.50 MiB, 1,572,864 bytes");
    is_value(1048570, 0, "bytes", "1.00 MiB, 1,048,570 bytes");
    is_value(123456789, 0, "bytes", "117.7 MiB, 123,456,789 bytes");
    is_value(UINT64_MAX, 0, "bytes", "16.00 EiB, 18,446,744,073,709,551,615 bytes");
    is_value(1500, 0, "us", "1.50 ms, 1,500 \xc2\xb5s");
    is_value(1, 0, "samples", "1 sample");
    is_value(1, 0.5, "samples", "1.5 samples");
    is_value(1, 0, "requests", "1 requests");
    is_value(2310000000, 0, "nanoseconds", "2.31 s, 2,310,000,000 nanoseconds");
    is_value(500, 0, "ns", "500 ns");
    is_value(7200, 0, "seconds", "7,200 seconds");
    is_value(12, .5, "", "12.5");
}

static void test_counted(void)
{
    struct strbuf sb = STRBUF_INIT;

    value_add_counted(&sb, 1, "stack, ", "stacks, ");
    value_add_counted(&sb, 1234, "block", "blocks");
    is_str(sb.buf, "1 stack, 1,234 blocks", "value_add_counted uses singular and plural");
    strbuf_clear(&sb);
    value_add_blocks(&sb, 2048, 1);
    is_str(sb.buf, "2.00 KiB, 2,048 bytes in 1 block", "value_add_blocks shows bytes and blocks");
    strbuf_release(&sb);
}

static void test_digits(void)
{
    is_str(text(plain, (struct folded_count){1000000, .25}, ","), "1,000,000.25",
           "digits are grouped");
    is_str(text(plain, (struct folded_count){1000000, .25}, ""), "1000000.25",
           "digits are not grouped");
    is_str(text(plain, (struct folded_count){9, .9999999}, ""), "10",
           "a fraction rounds up to a whole number");
    is_str(text(plain, (struct folded_count){0, .000001}, ""), "0.000001",
           "a number has up to six decimals");
    is_str(text(fixed, (struct folded_count){12, .5}, ""), "12.5",
           "value_add_fixed2 omits a trailing zero");
    is_str(text(fixed, (struct folded_count){12, .056}, ""), "12.06",
           "value_add_fixed2 rounds to two decimals");
    is_str(text(fixed, (struct folded_count){3, 0}, "-"), "-3",
           "value_add_fixed2 shows a negative number");
    is_str(text(fixed, (struct folded_count){0, .001}, "-"), "0",
           "value_add_fixed2 shows no negative zero");
}

static void is_percent(double part, double whole, const char *want)
{
    struct strbuf sb = STRBUF_INIT;

    value_add_percent(&sb, part, whole);
    is_str(sb.buf, want, "%g of %g is %s", part, whole, want);
    strbuf_release(&sb);
}

static void test_percent(void)
{
    is_percent(1, 3, "33.33%");
    is_percent(1, 1, "100.00%");
    is_percent(0, 5, "0.00%");
    is_percent(5, 0, "0.00%");
    is_percent(0.05, 100, "0.05%");
}

static void is_xml(const char *s, size_t len, size_t max, const char *want)
{
    struct strbuf sb = STRBUF_INIT;

    xml_add(&sb, s, len, max);
    is_str(sb.buf, want, "XML: %s", want);
    strbuf_release(&sb);
}

static void test_xml(void)
{
    is_xml("</title><script>\"x\" & 'y'", 25, 0,
           "&lt;/title&gt;&lt;script&gt;&quot;x&quot; &amp; &#39;y&#39;");
    is_xml("a\0b\x1b[0m\n", 8, 0,
           "a\xef\xbf\xbd"
           "b\xef\xbf\xbd[0m\xef\xbf\xbd");
    is_xml("\xff\xc0\xaf", 3, 0, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    is_xml("\xef\xbf\xbe", 3, 0, "\xef\xbf\xbd");
    is_xml("a\xe2\x80\xae"
           "b",
           5, 0,
           "a\xef\xbf\xbd"
           "b");
    is_xml("abcdef", 6, 3, "abc\xe2\x80\xa6");
    is_xml("abc", 3, 3, "abc");
    is_xml("]]>", 3, 0, "]]&gt;");
    is_xml("na\xc3\xafve", 6, 0, "na\xc3\xafve");
}

static void test_top(void)
{
    static const char *const lines[] = {"a;b;a 5", "a;b 2", "c;a 1", "b;b;b 4"};
    struct frametree t;
    struct top_row *rows;
    size_t n;

    frametree_init(&t, false);
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        struct folded_line line;

        folded_parse_line(lines[i], strlen(lines[i]), &line);
        frametree_add(&t, &line);
    }
    frametree_finish(&t);
    rows = toplist_make(&t, NULL, TOP_BY_NAME, &n);
    is_int(n, 3, "toplist_make has three symbols");
    is_int(rows[0].self.whole, 6, "the own count of a adds up over stacks");
    is_int(rows[0].total.whole, 8, "a stack with a twice counts once");
    is_int(rows[1].self.whole, 6, "the own count of b adds up over stacks");
    is_int(rows[1].total.whole, 11, "the total of b counts each stack once");
    is_int(rows[2].total.whole, 1, "the total of c has its callees");
    free(rows);
    rows = toplist_make(&t, NULL, TOP_BY_TOTAL, &n);
    ok(rows[0].total.whole == 11 && rows[1].total.whole == 8 && rows[2].total.whole == 1,
       "TOP_BY_TOTAL sorts by total");
    free(rows);
    rows = toplist_make(&t, NULL, TOP_BY_SELF, &n);
    ok(rows[0].total.whole == 11 && rows[0].self.whole == 6,
       "TOP_BY_SELF sorts by own count, then by total");
    free(rows);
    frametree_release(&t);
}

int main(void)
{
    test_units();
    test_counted();
    test_digits();
    test_percent();
    test_xml();
    test_top();
    return done_testing();
}
