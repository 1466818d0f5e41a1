/* The folded grammar, line by line, compared with flamegraph.pl. */
#include "common/folded.h"
#include "tests/tap.h"

#include <stdlib.h>

static const struct {
    const char *line;
    int ret;
    const char *stack;
    uint64_t whole;
    double part;
    int differential;
    uint64_t first;
} lines[] = {
    {"main;foo 12", 1, "main;foo", 12, 0, 0, 12},
    {"main 1.5", 1, "main", 1, .5, 0, 1},
    {"main 2.", 1, "main", 2, 0, 0, 2},
    {"main;foo 3 5", 1, "main;foo", 5, 0, 1, 3},
    {"main;foo 3.25 5", 1, "main;foo", 5, 0, 1, 3},
    {"main 12\r", 1, "main", 12, 0, 0, 12},
    {"main 12 \t ", 1, "main", 12, 0, 0, 12},
    {"main\t7", 1, "main", 7, 0, 0, 7},
    {"a  7", 1, "a ", 7, 0, 0, 7},
    {"operator new(unsigned long) 7", 1, "operator new(unsigned long)", 7, 0, 0, 7},
    {"a;;b 1", 1, "a;;b", 1, 0, 0, 1},
    {";; 6", 1, ";;", 6, 0, 0, 6},
    {" 6", 1, "", 6, 0, 0, 6},
    {"# text 5", 1, "# text", 5, 0, 0, 5},
    {"1 2", 1, "1", 2, 0, 0, 2},
    {"a 9007199254740993", 1, "a", 9007199254740993u, 0, 0, 9007199254740993u},
    {"a 18446744073709551615", 1, "a", UINT64_MAX, 0, 0, UINT64_MAX},
    {"a 99999999999999999999999", 1, "a", UINT64_MAX, 0, 0, UINT64_MAX},
    {"main .5", -1, "", 0, 0, 0, 0},
    {"main 1e3", -1, "", 0, 0, 0, 0},
    {"main -3", -1, "", 0, 0, 0, 0},
    {"main +4", -1, "", 0, 0, 0, 0},
    {"main 1.2.3", -1, "", 0, 0, 0, 0},
    {"main", -1, "", 0, 0, 0, 0},
    {"12", -1, "", 0, 0, 0, 0},
    {"main 0x10", -1, "", 0, 0, 0, 0},
    {"#!/bin/sh", -1, "", 0, 0, 0, 0},
    {"# a comment", 0, "", 0, 0, 0, 0},
    {"#", 0, "", 0, 0, 0, 0},
    {"", 0, "", 0, 0, 0, 0},
    {"  \r", 0, "", 0, 0, 0, 0},
};

static void test_lines(void)
{
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        /* An exact heap copy, so that a sanitizer sees a read past the end. */
        size_t len = strlen(lines[i].line);
        char *copy = malloc(len ? len : 1);
        struct folded_line f = {0};
        int ret;

        memcpy(copy, lines[i].line, len);
        ret = folded_parse_line(copy, len, &f);
        is_int(ret, lines[i].ret, "line %zu: the result of the parser", i);
        if (ret == 1) {
            ok(f.len == strlen(lines[i].stack) && !memcmp(f.stack, lines[i].stack, f.len),
               "line %zu: the stack", i);
            ok(f.count.whole == lines[i].whole, "line %zu: the count", i);
            ok(f.count.part == lines[i].part, "line %zu: the fraction", i);
            is_int(f.differential, lines[i].differential, "line %zu: whether it has two counts", i);
            ok(f.count1.whole == lines[i].first, "line %zu: the first count", i);
        }
        free(copy);
    }
}

static void test_fraction(void)
{
    struct folded_line f;

    folded_parse_line("a 0.99999999999999999999", 24, &f);
    ok(f.count.part < 1, "a fraction of many digits stays below one");
    folded_parse_line("a 3.125", 7, &f);
    ok(folded_count_double(f.count) == 3.125,
       "folded_count_double returns the count with its fraction");
}

static void test_meta(void)
{
    const char *s = "# flame: view=live unit=bytes empty= viewer=x";
    const char *v;
    size_t n;

    ok(folded_find_meta(s, strlen(s), "unit", &v, &n) && n == 5 && !memcmp(v, "bytes", 5),
       "folded_find_meta finds a key in the middle");
    ok(folded_find_meta(s, strlen(s), "view", &v, &n) && n == 4 && !memcmp(v, "live", 4),
       "folded_find_meta finds the first key");
    ok(folded_find_meta(s, strlen(s), "empty", &v, &n) && n == 0,
       "folded_find_meta finds an empty value");
    ok(!folded_find_meta(s, strlen(s), "vie", &v, &n),
       "folded_find_meta does not find a prefix of a key");
    ok(!folded_find_meta(s, strlen(s), "x", &v, &n), "folded_find_meta does not find a value");
    ok(!folded_find_meta("# view=live", 11, "view", &v, &n),
       "folded_find_meta ignores other comments");
    ok(!folded_find_meta("# flame:", 8, "view", &v, &n),
       "folded_find_meta finds no key in an empty heading");
}

static void is_frame(const char *name, size_t len, const char *want)
{
    struct strbuf sb = STRBUF_INIT;

    strbuf_addstr(&sb, "main;");
    folded_add_frame(&sb, name, len);
    is_str(sb.buf + 5, want, "frame becomes '%s'", want);
    strbuf_release(&sb);
}

static void test_frames(void)
{
    is_frame("plain", 5, "plain");
    is_frame("", 0, "");
    is_frame("a;b", 3, "a:b");
    is_frame("a\nb\r\tc\0d", 8, "a b  c d");
    is_frame("x\xff\xfey", 4, "x\xef\xbf\xbd\xef\xbf\xbdy");
    is_frame("\xc0\xaf", 2, "\xef\xbf\xbd\xef\xbf\xbd");
    is_frame("\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    is_frame("\xe2\x82", 2, "\xef\xbf\xbd\xef\xbf\xbd");
    is_frame("na\xc3\xafve \xe2\x82\xac \xf0\x9f\x94\xa5", 15,
             "na\xc3\xafve \xe2\x82\xac \xf0\x9f\x94\xa5");
    is_frame("csi\xc2\x9bx", 6, "csi x");
    is_frame("read 4096", 9, "read_4096");
    is_frame("read\n1.5", 8, "read_1.5");
    is_frame("x 12)", 5, "x 12)");
    is_frame("42", 2, "42");
}

/* A frame that folded_add_frame writes must come back as one frame and one count. */
static void test_round_trip(void)
{
    unsigned seed = 1;
    int bad = 0;

    for (int round = 0; round < 20000; round++) {
        static const char pieces[][4] = {" ",  "1",    ".", ";", "a",
                                         "\n", "\xff", "#", "0", "\xc3\xa9"};
        struct strbuf name = STRBUF_INIT, line = STRBUF_INIT;
        struct folded_line f;

        for (int i = rand_r(&seed) % 8; i > 0; i--)
            strbuf_addstr(&name, pieces[rand_r(&seed) % ARRAY_LEN(pieces)]);
        strbuf_addstr(&line, "root;");
        folded_add_frame(&line, name.buf, name.len);
        size_t want = line.len;
        strbuf_addstr(&line, " 77");
        if (folded_parse_line(line.buf, line.len, &f) != 1 || f.differential || f.len != want ||
            f.count.whole != 77 || memchr(f.stack + 5, ';', f.len - 5))
            bad++;
        strbuf_release(&name);
        strbuf_release(&line);
    }
    is_int(bad, 0, "20,000 random names come back as one frame with their count");
}

int main(void)
{
    test_lines();
    test_fraction();
    test_meta();
    test_frames();
    test_round_trip();
    return done_testing();
}
