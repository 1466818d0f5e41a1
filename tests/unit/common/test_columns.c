/* Number of counts in a line, as the other lines of the text show it. */
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
    is_int(kind_of("a;b 1\nthread 1234 5\na;c 2\n"), FOLDED_ONE, "most lines have one count");
    is_int(kind_of("a;b 1 2\na;c 5 6\n"), FOLDED_TWO, "all have two");
    is_int(kind_of("a;b 1 2\na;c 5 6\na;d 4\n"), FOLDED_TWO, "most have two");
    is_int(kind_of("a;b 1 2\na;c 5\n"), FOLDED_ONE, "as many of either kind are no comparison");
    is_int(kind_of(""), FOLDED_ONE, "there are none");
    is_int(kind_of("# flame: view=alloc unit=bytes\na;b 1\na;c 2\na;d 1 2\n"), FOLDED_AS_WRITTEN,
           "flame has written it");
    is_int(kind_of("a 1 2\nb 1 2\nread 40"), FOLDED_TWO, "the last line may be cut");
    is_int(kind_of("a 1 2"), FOLDED_TWO, "but for the only one");
}

static void test_one(void)
{
    kind_of("a 1\n");
    is_str(read_as("thread 1234 5"), "thread_1234 5", "the first number is of the name");
    is_str(read_as("a;read 4.5 5 \r"), "a;read_4.5 5", "whatever stands behind the count");
    is_str(read_as("1 2 3"), "1_2 3", "a name may be numbers alone");
    is_str(read_as("a;b 5"), "a;b 5", "one count is one");
    is_str(read_as("b"), "-1", "none is none");
    is_int(columns.joined, 3, "they are counted");
    is_int(columns.joined_line, 7, "and where the first is");
    is_str(read_as("# flame: view=alloc"), "0", "a heading");
    is_str(read_as("a;b 5 6"), "a;b 5 6", "begins a text that is read as it is written");
}

static void test_two(void)
{
    kind_of("a 1 2\nb 1 2\n");
    is_str(read_as("a;b 5 6"), "a;b 5 6", "two counts");
    is_str(read_as("a;b 5"), "-1", "one count is not understood there");
    is_str(read_as("# a comment"), "0", "a comment is one");
}

int main(void)
{
    test_kinds();
    test_one();
    test_two();
    folded_columns_release(&columns);
    return done_testing();
}
