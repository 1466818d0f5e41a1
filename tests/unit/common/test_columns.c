/* The number of counts in a line, decided by the other lines of the text. */
#include "common/folded/columns.h"

#include <stdlib.h>

#include "tests/tap.h"

static struct folded_columns columns;

static enum folded_columns_kind kind_of(const char *text)
{
    folded_columns_release(&columns);
    folded_columns_begin(&columns, text, strlen(text));
    return columns.kind;
}

/* The line as parsed: "STACK COUNT", with the first count before it if it has two. */
static const char *read_as(const char *line)
{
    static char got[200];
    size_t len = strlen(line);
    char *copy = malloc(len + 1); /* exact, so that a sanitizer sees a read past the end */
    struct folded_line f;
    int kind;

    memcpy(copy, line, len);
    kind = folded_columns_parse(&columns, copy, len, 7, &f);
    if (kind <= 0)
        snprintf(got, sizeof got, "%d", kind);
    else if (f.differential)
        snprintf(got, sizeof got, "%.*s %d %d", (int)f.len, f.stack, (int)f.count1.whole,
                 (int)f.count.whole);
    else
        snprintf(got, sizeof got, "%.*s %d", (int)f.len, f.stack, (int)f.count.whole);
    free(copy);
    return got;
}

static void test_kinds(void)
{
    is_int(kind_of("a;b 1\nthread 1234 5\na;c 2\n"), FOLDED_ONE,
           "a text with mostly one count a line has one column");
    is_int(kind_of("a;b 1 2\na;c 5 6\n"), FOLDED_TWO,
           "a text with two counts in all lines has two columns");
    is_int(kind_of("a;b 1 2\na;c 5 6\na;d 4\n"), FOLDED_TWO,
           "a text with mostly two counts a line has two columns");
    is_int(kind_of("a;b 1 2\na;c 5\n"), FOLDED_ONE,
           "a text with as many lines of either kind has one column");
    is_int(kind_of(""), FOLDED_ONE, "an empty text has one column");
    is_int(kind_of("# flame: view=alloc unit=bytes\na;b 1\na;c 2\na;d 1 2\n"), FOLDED_AS_WRITTEN,
           "a text that flame wrote is read as written");
    is_int(kind_of("a 1 2\nb 1 2\nread 40"), FOLDED_TWO, "a truncated last line does not count");
    is_int(kind_of("a 1 2"), FOLDED_TWO, "a truncated only line counts");
}

static void test_one(void)
{
    kind_of("a 1\n");
    is_str(read_as("thread 1234 5"), "thread_1234 5",
           "one column: a first number belongs to the name");
    is_str(read_as("a;read 4.5 5 \r"), "a;read_4.5 5",
           "one column: blanks behind the count are ignored");
    is_str(read_as("1 2 3"), "1_2 3", "one column: a name may consist of numbers");
    is_str(read_as("a;b 5"), "a;b 5", "one column: a line of one count is read");
    is_str(read_as("b"), "-1", "one column: a line without a count is refused");
    is_int(columns.joined, 3, "one column: joined lines are counted");
    is_int(columns.joined_line, 7, "one column: the first joined line is known");
    is_str(read_as("# flame: view=alloc"), "0", "one column: a flame heading is a comment");
    is_str(read_as("a;b 5 6"), "a;b 5 6",
           "one column: lines behind a flame heading are read as written");
}

static void test_two(void)
{
    kind_of("a 1 2\nb 1 2\n");
    is_str(read_as("a;b 5 6"), "a;b 5 6", "two columns: a line of two counts is read");
    is_str(read_as("a;b 5"), "-1", "two columns: a line of one count is refused");
    is_str(read_as("# a comment"), "0", "two columns: a comment is a comment");
}

int main(void)
{
    test_kinds();
    test_one();
    test_two();
    folded_columns_release(&columns);
    return done_testing();
}
