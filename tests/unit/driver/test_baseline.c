/* Baselines: the parts of a stack that count, the accepted formats, and errors in files. */
#include "driver/suppress/baseline.h"

#include "common/error.h"
#include "tests/tap.h"

static void keys(void)
{
    static const struct {
        const char *stack, *key;
    } rows[] = {
        {"a;b;c", "a;b;c"},
        {"a;b file.c:12;c", "a;b;c"},
        {"a;b file.c:12_[i];c_[i]", "a;b;c"},
        {"a;operator new(unsigned long) new_op.cc:50", "a;operator new(unsigned long)"},
        {"a;[libc.so.6+0x12ab];c", "a;[libc.so.6];c"},
        {"a;[libc.so.6];c", "a;[libc.so.6];c"},
        {"a;x:12", "a;x:12"},
        {"a; x:12", "a; x:12"},
        {"a;x :12", "a;x :12"},
        {"a;x 12", "a;x_12"},
        {"a;f 3 x.c:7", "a;f_3"},
        {"a;x y.c:1 z.c:2", "a;x"},
        {"a;[+0x1]", "a;[+0x1]"},
        {"a;[x+0x]", "a;[x+0x]"},
        {"a;x_[k]", "a;x_[k]"},
        {"_[i]", "_[i]"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct strbuf key = STRBUF_INIT;

        baseline_add_key(&key, rows[i].stack, strlen(rows[i].stack));
        is_str(key.buf, rows[i].key, "the key of %s", rows[i].stack);
        strbuf_release(&key);
    }
}

static struct baseline *parse(const char *text, struct strbuf *why)
{
    struct baseline *b;
    int status = baseline_parse(&b, "f", "leak", text, strlen(text), why);

    ok((status == 0) == (b != NULL) && (status == 0 || status == FLAME_USAGE),
       "baseline_parse either succeeds with a baseline or fails with FLAME_USAGE");
    return b;
}

static intmax_t known_of(struct baseline *b, const char *key)
{
    uint64_t *bytes = baseline_find(b, key, strlen(key));

    return bytes ? (intmax_t)*bytes : -1;
}

static void reads(void)
{
    struct strbuf why = STRBUF_INIT, text = STRBUF_INIT;
    struct baseline *b = parse("# flame: view=leak unit=bytes\n"
                               "a;b x.c:1 10\n"
                               "a;b x.c:2 5\r\n"
                               "\n"
                               "# a comment\n"
                               "a;c 0\n"
                               "# flame: view=alloc unit=bytes\n"
                               "a;d 7\n"
                               "# flame: view=leak unit=bytes\n"
                               "a;e 18446744073709551615\n"
                               "a;e 1",
                               &why);

    is_int(known_of(b, "a;b"), 15, "stacks of equal functions add up");
    is_int(known_of(b, "a;c"), 0, "a stack with 0 bytes is known");
    is_int(known_of(b, "a;d"), -1, "a stack of another view is ignored");
    ok(*baseline_find(b, "a;e", 3) == UINT64_MAX, "an overflowing sum stays at the maximum");
    baseline_text(b, "leak", &text);
    is_str(text.buf, "# flame: view=leak unit=bytes\na;b 15\na;c 0\na;e 18446744073709551615\n",
           "baseline_text writes the stacks sorted");
    baseline_free(b);
    b = parse("a;b 1", &why);
    is_int(known_of(b, "a;b"), 1, "text without a heading belongs to the requested view");
    baseline_free(b);
    b = parse("", &why);
    ok(b != NULL, "an empty baseline is accepted");
    baseline_free(b);
    is_str(why.buf, "", "valid baselines give no message");
    strbuf_release(&why);
    strbuf_release(&text);
}

/* leak.json: only the classes that the view counts are read. */
static void reads_json(void)
{
    static const char text[] =
        "{\"format\": \"flame-leak\", \"version\": 1, \"new\": [1, {\"x\": null}], \"leaks\": [\n"
        " {\"class\": \"definite\", \"bytes\": 10, \"blocks\": 1, \"process\": {\"pid\": 7, "
        "\"name\": "
        "\"prog\"},\n"
        "  \"frames\": [{\"function\": \"f;g\", \"line\": 3}, {\"function\": \"main\"}]},\n"
        " {\"class\": \"indirect\", \"bytes\": 5, \"process\": {\"name\": \"prog\"}, \"frames\": "
        "[{\"function\": \"[libc.so.6+0x12]\"}]},\n"
        " {\"class\": \"inner\", \"bytes\": 6, \"process\": {\"name\": \"prog\"}, \"frames\": "
        "[]},\n"
        " {\"class\": \"live\", \"bytes\": 7, \"process\": {\"name\": \"prog\"}, \"frames\": []}\n"
        "]}\n";
    struct strbuf why = STRBUF_INIT;
    struct baseline *b = parse(text, &why);

    is_str(why.buf, "", "leak.json is accepted");
    is_int(b ? known_of(b, "prog;main;f:g") : -2, 10,
           "leak.json: a key begins with the outermost function");
    is_int(b ? known_of(b, "prog;[libc.so.6]") : -2, 5, "leak.json: a key has no offsets");
    is_int(b ? known_of(b, "prog") : -2, -1,
           "leak.json: live blocks do not count for the leak view");
    baseline_free(b);
    is_int(baseline_parse(&b, "f", "live", text, sizeof text - 1, &why), 0,
           "leak.json: baseline_parse accepts the live view");
    is_int(b ? known_of(b, "prog") : -2, 7, "leak.json: live blocks count for the live view");
    baseline_free(b);
    strbuf_release(&why);
}

static void wrong_files(void)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"a;b", "f:1: no folded stack"},
        {"a;b 1\nmain", "f:2: no folded stack"},
        {"a;b 1 2", "f:1: two counts"},
        {"# flame: view=live unit=bytes\na;b 1", "f: counts something else than view=leak"},
        {"<svg>\n", "f:1: no folded stack"},
        {"{\"a\": 1}\n", "f: not what 'flame leak --json' writes"},
        {"{\"format\": \"flame-leak\"}\n", "f: not what"},
        {"{\"format\": \"flame-leak\",\n\"leaks\": [\n{\"bytes\": \"x\"}]}", "f:3: not what"},
        {"{\"format\": \"flame-leak\", \"leaks\": [{\"frames\": [{}]}]}", "f:1: not what"},
        {"{\"format\": \"flame-leak\", \"leaks\": []} x", "f: not what"},
        {"{\"format\": \"flame-leak\", \"leaks\": [", "f:1: not what"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct strbuf why = STRBUF_INIT;

        baseline_free(parse(rows[i].text, &why));
        ok(strncmp(why.buf, rows[i].why, strlen(rows[i].why)) == 0,
           "wrong baseline %zu is refused with its message: %s", i, why.buf);
        strbuf_release(&why);
    }
}

int main(void)
{
    keys();
    reads();
    reads_json();
    wrong_files();
    return done_testing();
}
