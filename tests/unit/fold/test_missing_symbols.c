/* Modules that lost their symbols: the line in a text, and the message. */
#include "fold/stacks/missing_symbols.h"

#include "common/folded.h"
#include "tests/tap.h"

static const uint8_t build[] = {0x0a, 0xff};

static void check_word(const char *path, const char *want)
{
    struct strbuf sb = STRBUF_INIT;

    missing_symbols_word(&sb, path, build, sizeof build);
    is_str(sb.buf, want, "the word for module %s", path);
    strbuf_release(&sb);
}

static void check_names(size_t n, const char *want)
{
    struct strbuf sb = STRBUF_INIT;
    struct missing_symbols l = {0};

    for (size_t i = 0; i < n; i++) {
        char word[32];

        snprintf(word, sizeof word, "lib%zu.so:%02zx", i, i);
        missing_symbols_add(&l, word, strlen(word));
        missing_symbols_add(&l, word, strlen(word));
    }
    missing_symbols_add_names(&l, &sb);
    is_str(sb.buf, want, "a message names %zu modules", n);
    strbuf_release(&sb);
    missing_symbols_release(&l);
}

static void test_sets(void)
{
    struct missing_symbols a = {0}, b = {0};
    struct strbuf sb = STRBUF_INIT;
    struct folded_line line;

    ok(missing_symbols_same(&a, &b), "two empty lists are equal");
    missing_symbols_add(&a, "x:01", 4);
    ok(!missing_symbols_same(&a, &b) && !missing_symbols_same(&b, &a),
       "a list of one module differs from an empty one");
    missing_symbols_add(&b, "y:01", 4);
    ok(!missing_symbols_same(&a, &b), "lists of different modules differ");
    missing_symbols_add(&b, "x:01", 4);
    missing_symbols_add(&a, "y:01", 4);
    ok(missing_symbols_same(&a, &b), "lists of equal modules in another order are equal");
    missing_symbols_add(&a, "x:02", 4);
    missing_symbols_add(&b, "x:03", 4);
    ok(!missing_symbols_same(&a, &b), "lists with different builds of a module differ");
    missing_symbols_add_lines(&a, &sb);
    is_str(sb.buf, "# flame: names-lost=x:01\n# flame: names-lost=y:01\n# flame: names-lost=x:02\n",
           "each module gets a heading line");
    is_int(folded_parse_line(sb.buf, (size_t)(strchr(sb.buf, '\n') - sb.buf), &line), 0,
           "folded_parse_line reads a heading line as a comment");
    strbuf_release(&sb);
    missing_symbols_release(&a);
    missing_symbols_release(&b);
}

/* A hostile file may name as many as it has lines. */
static void test_many(void)
{
    struct missing_symbols a = {0}, b = {0};

    for (int i = 0; i < 2 * LOSTNAMES_MAX; i++) {
        char word[32];
        int len = snprintf(word, sizeof word, "x%d:00", i);

        missing_symbols_add(&a, word, (size_t)len);
        missing_symbols_add(&b, word, (size_t)len);
    }
    is_int((intmax_t)a.n, LOSTNAMES_MAX, "a list keeps at most LOSTNAMES_MAX modules");
    ok(!missing_symbols_same(&a, &b), "two full lists do not count as equal");
    missing_symbols_release(&a);
    missing_symbols_release(&b);
}

int main(void)
{
    check_word("/opt/app", "app:0aff");
    check_word("app", "app:0aff");
    check_word("/opt/my app:1;\n2 (deleted)", "my_app_1__2_(deleted):0aff");
    check_names(0, "");
    check_names(1, "lib0.so");
    check_names(2, "lib0.so and lib1.so");
    check_names(3, "lib0.so, lib1.so and lib2.so");
    check_names(5, "lib0.so, lib1.so, lib2.so and 2 more");
    test_sets();
    test_many();
    return done_testing();
}
