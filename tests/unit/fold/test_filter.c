/* Filters: their effect, their order, and that both ways to run them agree. */
#include "fold/stacks/filter.h"

#include <stdlib.h>
#include <unistd.h>

#include "fold/stacks/filter_lines.h"
#include "fold/stacks/pattern.h"
#include "tests/rnd.h"
#include "tests/tap.h"

/* Parses "--grep", "x", ... as a command does. */
static void parse(struct filter *f, const char *const *args)
{
    static const struct opts_command command = {.name = "test", .tables = {{filter_rows, 0}}};
    char *argv[32] = {(char[]){"test"}};
    int first, n = 1;

    for (; args[n - 1]; n++)
        argv[n] = (char *)(uintptr_t)args[n - 1];
    is_int(opts_parse(&command, f, n, argv, &first), -1, "opts_parse accepts the options");
}

static void add_text(struct stackset *st, const char *text)
{
    for (const char *line = text, *nl; (nl = strchr(line, '\n')); line = nl + 1) {
        const char *blank = nl;
        struct stackset_count count;
        uint32_t ids[64];
        size_t n = 0;

        while (*--blank != ' ')
            continue;
        stackset_count_parse(blank + 1, (size_t)(nl - blank - 1), &count);
        for (const char *s = line, *end; s < blank; s = end + 1) {
            for (end = s; end < blank && *end != ';';)
                end++;
            ids[n++] = stackset_name(st, s, (size_t)(end - s));
        }
        stackset_add(st, ids, n, &count, NULL);
    }
}

static char *text_of(struct stackset *st)
{
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);

    stackset_write(st, BY_LINE, f);
    fclose(f);
    return text;
}

/* The text that the filters leave, applied to stacks that were added up. */
static char *by_stacks(const char *const *args, const char *text, uint64_t *left_out)
{
    struct stackset *st = stackset_new();
    struct filter f = FILTER_INIT;
    char *result;

    parse(&f, args);
    add_text(st, text);
    filter_stacks(&f, &st);
    *left_out = f.left_out[0].whole;
    result = text_of(st);
    stackset_free(st);
    filter_release(&f);
    return result;
}

static int take(void *to, const struct folded_line *line, unsigned tag)
{
    strbuf_add(to, line->stack, line->len);
    strbuf_addf(to, " %d\n", (int)line->count.whole + (int)tag);
    return 0;
}

/* The text that the filters leave, applied line by line and added up afterwards. */
static char *by_lines(const char *const *args, const char *text)
{
    struct stackset *st = stackset_new();
    struct filter f = FILTER_INIT;
    struct strbuf out = STRBUF_INIT;
    struct filter_lines *fl = filter_lines_new(&f, take, &out);
    char *result;

    parse(&f, args);
    for (const char *line = text, *nl; (nl = strchr(line, '\n')); line = nl + 1) {
        struct folded_line parsed;
        bool kept;

        if (folded_parse_line(line, (size_t)(nl - line), &parsed) == 1)
            filter_lines_add(fl, &parsed, 0, &kept);
    }
    filter_lines_end(fl);
    add_text(st, out.buf);
    result = text_of(st);
    filter_lines_free(fl);
    strbuf_release(&out);
    stackset_free(st);
    filter_release(&f);
    return result;
}

static void check(const char *name, const char *const *args, const char *text, const char *want,
                  uint64_t want_left_out)
{
    uint64_t left_out;
    char *got = by_stacks(args, text, &left_out), *lines = by_lines(args, text);

    is_str(got, want, "%s", name);
    is_str(lines, want, "%s, line by line", name);
    is_int((long long)left_out, (long long)want_left_out, "%s: the left-out sum", name);
    free(got);
    free(lines);
}

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const char sample[] = "app;main;a;b;c 1\n"
                             "app;main;a;b;b;a;d 10\n"
                             "app;main;x;c 100\n"
                             "app;main 1000\n";

static void each(void)
{
    check("--grep, a frame", ARGS("--grep", "x"), sample, "app;main;x;c 100\n", 1011);
    check("--grep, a piece of the stack", ARGS("--grep", "b;c$"), sample, "app;main;a;b;c 1\n",
          1110);
    check("--grep twice: both", ARGS("--grep", "c", "--grep", "a;b"), sample, "app;main;a;b;c 1\n",
          1110);
    check("--grep-v twice: neither", ARGS("--grep-v", "x", "--grep-v", "d"), sample,
          "app;main 1000\napp;main;a;b;c 1\n", 110);
    check("--focus", ARGS("--focus", "^c$"), sample, "app;main;a;b;c 1\napp;main;x;c 100\n", 1010);
    check("--focus is of one frame", ARGS("--focus", "b;c"), sample, "", 1111);
    check("--focus twice: both", ARGS("--focus", "c", "--focus", "x"), sample, "app;main;x;c 100\n",
          1011);
    check("--prune keeps the lowest", ARGS("--prune", "^b$"), sample,
          "app;main 1000\napp;main;a;b 11\napp;main;x;c 100\n", 0);
    check("--prune at the root", ARGS("--prune", "app"), sample, "app 1111\n", 0);
    check("--trim-root=FRAME begins stacks at the frame", ARGS("--trim-root=^b$"), sample,
          "app;main 1000\napp;main;x;c 100\nb;b;a;d 10\nb;c 1\n", 0);
    check("--trim-root keeps a last frame", ARGS("--trim-root"), sample,
          "main 1000\nmain;a;b;b;a;d 10\nmain;a;b;c 1\nmain;x;c 100\n", 0);
    check("--trim-root applies to what --grep leaves", ARGS("--grep", "a;b", "--trim-root"), sample,
          "b;a;d 10\nc 1\n", 1100);
    check("--trim-root of a single stack keeps its last frame", ARGS("--grep", "x", "--trim-root"),
          sample, "c 100\n", 1011);
    check("--collapse-recursion joins adjacent frames only", ARGS("--collapse-recursion"),
          "a;b;b;b;a;a 3\n", "a;b;a 3\n", 0);
    check("--from-caller reverses stacks", ARGS("--from-caller"), "a;b;c 3\nd;b;c 4\n",
          "c;b;a 3\nc;b;d 4\n", 0);
    check("--from-caller reverses stacks of different depths", ARGS("--from-caller"),
          "a;b 1\na;b;c;d 2\n", "b;a 1\nd;c;b;a 2\n", 0);
    check("a stack without frames passes --grep-v, --trim-root and --from-caller",
          ARGS("--grep-v", "a", "--trim-root", "--from-caller"), " 3\na 4\n", " 3\n", 4);
    check("--collapse-recursion keeps a stack without frames", ARGS("--collapse-recursion"),
          " 3\na;a 4\n", " 3\na 4\n", 0);
    check("--trim-root shortens a stack that begins all others", ARGS("--trim-root"),
          "a;b 1\na;b;c 2\n", "b 1\nb;c 2\n", 0);
    check("--trim-root keeps stacks that share no frame with an empty one", ARGS("--trim-root"),
          " 3\na;b 1\na;c 4\n", " 3\na;b 1\na;c 4\n", 0);
}

static void order(void)
{
    check("--grep sees recursive frames", ARGS("--collapse-recursion", "--grep", "b;b"), sample,
          "app;main;a;b;a;d 10\n", 1101);
    check("--focus sees what --prune drops", ARGS("--prune", "^a$", "--focus", "^d$"), sample,
          "app;main;a 10\n", 1101);
    check("--prune before --trim-root=", ARGS("--trim-root=^c$", "--prune", "^a$"), sample,
          "app;main 1000\napp;main;a 11\nc 100\n", 0);
    check("--focus matches names, not places", ARGS("--by", "module", "--focus", "f"),
          "m;f (/lib/x.so);g (/lib/x.so);h (/bin/[y]) 1\n", "m;x.so;[y] 1\n", 0);
    check("--by before --collapse-recursion", ARGS("--by", "line", "--collapse-recursion"),
          "f a.c:1;g a.c:1;g a.c:2;h 1\n", "a.c:1;a.c:2;h 1\n", 0);
    check("--by line keeps lines apart", ARGS("--by", "line"), "f a.c:1;g a.c:1 1\n",
          "a.c:1;a.c:1 1\n", 0);
    check("--by module puts neighbours together", ARGS("--by", "module"),
          "f (/x.so);g (/x.so);h (/y.so) 1\n", "x.so;y.so 1\n", 0);
    check("--by module keeps recursion of names", ARGS("--by", "module"), "f;f;g (/x.so) 1\n",
          "f;f;x.so 1\n", 0);
    check("--by module: a frame with an empty place takes that of the one below",
          ARGS("--by", "module"), "f\x1fx.so;g\x1f;h\x1fy.so 1\nf\x1fx.so;g\x1f 2\n",
          "x.so 2\nx.so;y.so 1\n", 0);
    check("--by module: a frame with an empty place and none below keeps its name",
          ARGS("--by", "module"), "g\x1f;h\x1fy.so 1\n", "g;y.so 1\n", 0);
    check("--by process joins the threads of a process", ARGS("--by", "process"),
          "v-1/2;f 1\nv-1/3;f 1\nw/3;f 1\n-1/2 1\n", "-1/2 1\nv-1;f 2\nw/3;f 1\n", 0);
    check("--by process needs process and thread number", ARGS("--by", "process"),
          "a--/8;f 1\na-7/;f 1\n", "a--/8;f 1\na-7/;f 1\n", 0);
    check("--by process accepts the shortest names only", ARGS("--by", "process"),
          "x-1/2;f 1\n1/2;f 1\n/2;f 1\n12;f 1\nx1/2;f 1\nx-12/;f 1\nab-34/56;f 1\na-12b3;f 1\n",
          "/2;f 1\n1/2;f 1\n12;f 1\na-12b3;f 1\nab-34;f 1\nx-12/;f 1\nx-1;f 1\nx1/2;f 1\n", 0);
    check("--by process applies to the root frame", ARGS("--by", "process"),
          "a;v-1/2 1\n 2\nv-1/2 4\n", " 2\na;v-1/2 1\nv-1 4\n", 0);
    check("--by thread after --by process keeps threads apart",
          ARGS("--by", "process", "--by", "thread"), "v-1/2;f 1\n", "v-1/2;f 1\n", 0);
}

static void leaves(void)
{
    check("a pruned frame that looks like a count is escaped", ARGS("--prune", "read"),
          "a;read 4096;b 5\n", "a;read_4096 5\n", 0);
    check("a pruned frame with an empty name adds to the frame above", ARGS("--prune", "^$"),
          "a;;b 5\na 1\n", "a 6\n", 0);
    check("a stack of empty names only", ARGS("--prune", "^x$"), ";; 5\n; 2\na 1\n", " 7\na 1\n",
          0);
    check("--grep matches around invalid UTF-8", ARGS("--grep", "b$"), "a\xff;b 1\na\xff;c 2\n",
          "a\xff;b 1\n", 2);
}

static void places(void)
{
    static const struct {
        const char *name, *module, *file, *line;
    } known[] = {
        {"f", NULL, NULL, NULL},
        {"[libc.so.6+0x1f]", "libc.so.6", "[libc.so.6]", "[libc.so.6]"},
        {"[libfoo]", "libfoo", "[libfoo]", "[libfoo]"},
        {"[unknown+0x1f]", NULL, NULL, NULL},
        {"[truncated]", NULL, NULL, NULL},
        {"f_[k]", "[kernel]", "[kernel]", "[kernel]"},
        {"f_[j]", "[jit]", "[jit]", "[jit]"},
        {"f (/lib/a.so.1)_[i]", "a.so.1", "[a.so.1]", "[a.so.1]"},
        {"libc.so.1`read", "libc.so.1", "[libc.so.1]", "[libc.so.1]"},
        {"operator() (int)", NULL, NULL, NULL},
        {"f (unsigned char)", NULL, NULL, NULL},
        {"f (in /usr/lib/libz.so)", "libz.so", "[libz.so]", "[libz.so]"},
        {"f src/a.c:12", NULL, "a.c", "a.c:12"},
        {"f (a.c:12)", NULL, "a.c", "a.c:12"},
        {"ns::f:a.c:12", NULL, "a.c", "a.c:12"},
        {"/usr/lib/python3/json.py:12:loads", NULL, "json.py", "json.py:12"},
        {"<string>:9:<module>", NULL, "<string>", "<string>:9"},
        {"main (src/spin.c)", NULL, "spin.c", "spin.c"},
        {"f (a.b)", NULL, NULL, NULL},
        {"a:9:b", NULL, NULL, NULL},
        {"ns::f:12", NULL, NULL, NULL},
        {"f (/lib/)", NULL, NULL, NULL},
        {"f (/lib/x 12)", "x_12", "[x_12]", "[x_12]"},
        {"f\x1fplace", "place", "place", "place"},
        {"f (/lib/a.so)\x1f", NULL, NULL, NULL},
        {"", NULL, NULL, NULL},
        {"[", NULL, NULL, NULL},
        {":1", NULL, NULL, NULL},
    };

    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        const char *want[] = {known[i].module, known[i].file, known[i].line};

        for (size_t k = 0; k < 3; k++) {
            struct strbuf got = STRBUF_INIT;
            bool found = place_find(PLACE_MODULE + (enum place_kind)k, known[i].name,
                                    strlen(known[i].name), &got);

            is_str(found ? got.buf : "none", want[k] ? want[k] : "none", "place %zu of '%s'", k,
                   known[i].name);
            strbuf_release(&got);
        }
    }
}

static void two_columns(void)
{
    struct stackset *st = stackset_new();
    struct stackset_count one = {1, 0}, two = {2, 0};
    struct filter f = FILTER_INIT;
    uint32_t a = stackset_name(st, "a", 1), b = stackset_name(st, "b", 1);
    char *text;

    parse(&f, ARGS("--grep", "a"));
    stackset_add(st, &a, 1, &one, NULL);
    stackset_add(st, &b, 1, &one, &two);
    filter_stacks(&f, &st);
    text = text_of(st);
    is_str(text, "a 1 0\n", "a filter keeps both columns");
    is_int((long long)f.left_out[1].whole, 2, "a filter has the left-out sum of the second column");
    free(text);
    stackset_free(st);
    filter_release(&f);
}

static void trouble(void)
{
    struct filter f = FILTER_INIT;
    struct stackset *st = stackset_new();
    struct strbuf line = STRBUF_INIT, why = STRBUF_INIT;
    struct pattern *p;

    p = pattern_new("a(b|*)", &why);
    ok(!p, "pattern_new refuses a wrong expression");
    ok(strstr(why.buf, "at character 5") != NULL, "pattern_new reports the place of an error");
    strbuf_clear(&why);
    for (size_t i = 0; i < 500; i++)
        strbuf_addstr(&line, "ab");
    strbuf_addch(&line, 'c');
    strbuf_clear(&why);
    p = pattern_new("^(a|b)*c$", &why);
    is_int(pattern_matches(p, line.buf, line.len), 1, "a pattern matches a long name");
    is_int(pattern_matches(p, line.buf, line.len - 1), 0, "a pattern refuses a long name");
    pattern_free(p);
    strbuf_clear(&line);
    strbuf_clear(&why);
    p = pattern_new("\xc3\xa9\xc3\xa9)x", &why);
    ok(!p && strstr(why.buf, "at character 3"), "pattern_new counts characters, not bytes");
    strbuf_release(&why);

    /* Every way to cut a row of a's in two, over and over. */
    for (size_t i = 0; i < 4000; i++)
        strbuf_addch(&line, 'a');
    strbuf_addstr(&line, "b 1\n");
    parse(&f, ARGS("--grep", "^(a+)+$"));
    add_text(st, line.buf);
    filter_stacks(&f, &st);
    ok(f.gave_up != NULL, "a pattern that takes too long gives up");
    is_int(filter_check(&f, "test"), 2, "a pattern that gave up is an error");
    stackset_free(st);
    strbuf_release(&line);
    filter_release(&f);
}

/* ---- messages at the end ---- */

/* Standard error is captured in `said`. */
static int kept_stderr = -1;
static FILE *said;

static void listen_to_stderr(void)
{
    fflush(stderr);
    kept_stderr = dup(STDERR_FILENO);
    said = tmpfile();
    if (!said || dup2(fileno(said), STDERR_FILENO) < 0)
        exit(1);
}

static void is_said(const char *want, const char *what)
{
    char text[512];
    size_t n;

    dup2(kept_stderr, STDERR_FILENO);
    close(kept_stderr);
    rewind(said);
    n = fread(text, 1, sizeof text - 1, said);
    text[n] = '\0';
    fclose(said);
    is_str(text, want, "%s", what);
}

static void check_said(const char *what, const char *const *args, const char *text, int status,
                       const char *want)
{
    struct stackset *st = stackset_new();
    struct filter f = FILTER_INIT;
    int got;

    listen_to_stderr();
    parse(&f, args);
    add_text(st, text);
    filter_stacks(&f, &st);
    got = filter_check(&f, "test");
    is_said(want, what);
    is_int(got, status, "%s: the status", what);
    stackset_free(st);
    filter_release(&f);
}

static void checks(void)
{
    struct strbuf line = STRBUF_INIT;

    check_said("no filter", ARGS(NULL), sample, 0, "");
    check_said("filters that leave a stack", ARGS("--grep", "x"), sample, 0, "");
    check_said("filters that leave no stack", ARGS("--grep", "zzz"), sample, 0,
               "flame: test: the filters leave none of 4 stacks\n");
    check_said("filters that leave no stack to trim", ARGS("--grep", "zzz", "--trim-root"), sample,
               0, "flame: test: the filters leave none of 4 stacks\n");
    check_said("filters of an empty input", ARGS("--grep", "zzz"), "", 0, "");
    check_said("a --by file that no frame has", ARGS("--by", "file"), sample, 2,
               "flame: test: --by: no frame here says where its code lies\n");
    check_said("a --by file that a frame has", ARGS("--by", "file"), "a;b c.c:1 1\n", 0, "");
    check_said("a --by thread that no frame has", ARGS("--by", "thread"), sample, 0, "");
    for (size_t i = 0; i < 4000; i++)
        strbuf_addch(&line, 'a');
    strbuf_addstr(&line, "b 1\n");
    check_said("a pattern that takes too long", ARGS("--focus", "a", "--focus", "^(a+)+$"),
               line.buf, 2,
               "flame: test: --focus '^(a+)+$' takes too long on a name here; write a simpler "
               "one\n");
    check_said("the first of two patterns that take too long",
               ARGS("--prune", "^(a+)+$", "--trim-root=^(a+)*$"), line.buf, 2,
               "flame: test: --prune '^(a+)+$' takes too long on a name here; write a simpler "
               "one\n");
    strbuf_release(&line);
}

static void refused(const char *what, const char *option, const char *value, const char *want)
{
    static const struct opts_command command = {.name = "test", .tables = {{filter_rows, 0}}};
    char *argv[] = {(char[]){"test"}, (char *)(uintptr_t)option, (char *)(uintptr_t)value, NULL};
    struct filter f = FILTER_INIT;
    int first, got;

    listen_to_stderr();
    got = opts_parse(&command, &f, 3, argv, &first);
    is_said(want, what);
    is_int(got, 2, "%s: opts_parse refuses it", what);
    ok(f.npatterns == 0, "%s: opts_parse keeps no pattern", what);
    filter_release(&f);
}

static void refusals(void)
{
    struct strbuf names = STRBUF_INIT;

    /* Compared whole: a command accepts the beginning of a name as well. */
    for (const struct opts_row *row = filter_rows; row->name || row->help; row++)
        if (row->name)
            strbuf_addf(&names, "%s ", row->name);
    is_str(names.buf, "grep grep-v focus prune trim-root by collapse-recursion from-caller ",
           "the table has the filter options");
    strbuf_release(&names);
    refused("a malformed expression", "--prune", "(",
            "flame: test: --prune '(' is no regular expression: missing closing parenthesis, at "
            "its end\n");
    refused(
        "an unknown place", "--by", "address",
        "flame: test: --by address: expected module, file, line, thread, process or function\n");
}

/* A sink that refuses more after some lines. */
struct sink {
    int left, calls;
    unsigned tags;
    struct strbuf text;
};

static int count_line(void *to, const struct folded_line *line, unsigned tag)
{
    struct sink *s = to;

    s->calls++;
    s->tags = 10 * s->tags + tag;
    strbuf_add(&s->text, line->stack, line->len);
    strbuf_addch(&s->text, ' ');
    return --s->left < 0 ? 7 : 0;
}

static void sinks(void)
{
    for (int shared = 0; shared < 2; shared++) {
        struct sink s = {.left = 1, .text = STRBUF_INIT};
        struct filter f = FILTER_INIT;
        struct filter_lines *fl = filter_lines_new(&f, count_line, &s);
        const char *const lines[] = {"r;a", "x", "r;b;;", "r;c"};
        int status = 0, kept_lines = 0;

        if (shared)
            parse(&f, ARGS("--grep-v", "x", "--trim-root"));
        else
            parse(&f, ARGS("--grep-v", "x"));
        for (unsigned i = 0; i < 4; i++) {
            struct folded_line line = {.stack = lines[i], .len = strlen(lines[i]), .count = {1, 0}};
            bool kept;
            int got = filter_lines_add(fl, &line, i + 1, &kept);

            kept_lines += kept;
            status = status ? status : got;
        }
        is_int(kept_lines, 3, "filter_lines_add reports which lines are kept");
        if (shared) {
            is_int(s.calls, 0, "with --trim-root no line is emitted before the end");
            is_int(status, 0, "with --trim-root filter_lines_add cannot fail");
            is_int(filter_lines_end(fl), 7,
                   "with --trim-root filter_lines_end returns the sink's error");
            is_int(s.calls, 2, "with --trim-root the sink's error ends the output");
            is_str(s.text.buf, "a b ", "with --trim-root lines are emitted in their order");
            is_int((intmax_t)s.tags, 13, "with --trim-root lines are emitted with their tags");
            s.left = 9;
            is_int(filter_lines_end(fl), 0, "with --trim-root a second filter_lines_end succeeds");
            is_int(s.calls, 2, "with --trim-root a second filter_lines_end emits nothing");
        } else {
            is_int(status, 7, "without --trim-root filter_lines_add returns the sink's error");
            is_str(s.text.buf, "r;a r;b r;c ",
                   "without --trim-root lines are emitted in their order");
            is_int((intmax_t)s.tags, 134, "without --trim-root lines are emitted with their tags");
            is_int(filter_lines_end(fl), 0,
                   "without --trim-root filter_lines_end has nothing to emit");
        }
        filter_lines_free(fl);
        strbuf_release(&s.text);
        filter_release(&f);
    }
    filter_lines_free(NULL);
}

/* Filtering parts and adding them up equals filtering the sum. */
static void any_grouping(void)
{
    const char *const *const all[] = {
        ARGS("--grep", "a;b"),  ARGS("--grep-v", "c"),
        ARGS("--focus", "b"),   ARGS("--prune", "b"),
        ARGS("--trim-root=b"),  ARGS("--collapse-recursion"),
        ARGS("--from-caller"),  ARGS("--prune", "c", "--grep", "a", "--from-caller"),
        ARGS("--by", "module"),
    };
    bool same = true;

    for (int round = 0; round < 300; round++) {
        const char *const *args = all[(size_t)round % ARRAY_LEN(all)];
        struct strbuf part[2] = {STRBUF_INIT, STRBUF_INIT}, whole = STRBUF_INIT;
        uint64_t out[3];
        char *parts[2], *once, *added;
        struct stackset *st = stackset_new();

        for (int i = 0; i < 40; i++) {
            struct strbuf *to = &part[rnd() % 2];
            size_t before = to->len;

            for (unsigned n = 1 + rnd() % 5; n > 0; n--)
                strbuf_addf(to, "%c%s%s", 'a' + (int)(rnd() % 3), rnd() % 2 ? " (/x.so)" : "",
                            n > 1 ? ";" : "");
            strbuf_addf(to, " %u\n", rnd() % 100);
            strbuf_add(&whole, to->buf + before, to->len - before);
        }
        for (int i = 0; i < 2; i++) {
            parts[i] = by_stacks(args, part[i].buf, &out[i]);
            add_text(st, parts[i]);
        }
        once = by_stacks(args, whole.buf, &out[2]);
        added = text_of(st);
        same &= row(strcmp(once, added) == 0, "at once:\n%s\nadded up:\n%s", once, added);
        same &= row(out[0] + out[1] == out[2], "left out: %d + %d, at once %d", (int)out[0],
                    (int)out[1], (int)out[2]);
        for (int i = 0; i < 2; i++) {
            free(parts[i]);
            strbuf_release(&part[i]);
        }
        free(once);
        free(added);
        strbuf_release(&whole);
        stackset_free(st);
    }
    ok(same, "filtering before adding up equals filtering afterwards");
}

int main(void)
{
    each();
    order();
    leaves();
    places();
    two_columns();
    trouble();
    checks();
    refusals();
    sinks();
    any_grouping();
    return done_testing();
}
