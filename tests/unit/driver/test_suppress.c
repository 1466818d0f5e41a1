/* Suppressions of both kinds: what they match, and what is wrong with files that are. */
#include "driver/suppress/suppress.h"

#include "common/error.h"
#include "driver/suppress/builtin_suppressions.h"
#include "tests/tap.h"

#define FRAMES_MAX 8

static struct suppress_frame frame(const char *name, const char *raw, const char *file,
                                   const char *module)
{
    return (struct suppress_frame){.name = name,
                                   .len = strlen(name),
                                   .raw = raw,
                                   .raw_len = strlen(raw),
                                   .file = file,
                                   .module = module};
}

/* make_node() called by List::add(int) called by code without a name called by main. */
static void make_c(struct suppress_frame *f, struct suppress_frame **stack)
{
    f[0] = frame("make_node", "make_node", "node.c", "/usr/bin/prog");
    f[1] = frame("List::add(int)", "_ZN4List3addEi", "list.cc", "/usr/bin/prog");
    f[2] = frame("", "", NULL, "/usr/lib/libbare.so.1");
    f[3] = frame("main", "main", "prog.c", "/usr/bin/prog");
    for (size_t i = 0; i < 4; i++)
        stack[i] = &f[i];
}

/* new char[]: one of libstdc++'s operators calls the other. */
static void make_cxx(struct suppress_frame *f, struct suppress_frame **stack)
{
    f[0] = frame("operator new(unsigned long)", "_Znwm", NULL, "/lib/libstdc++.so.6");
    f[1] = frame("operator new[](unsigned long)", "_Znam", NULL, "/lib/libstdc++.so.6");
    f[2] = frame("fill()", "_Z4fillv", "fill.cc", "/usr/bin/prog");
    f[3] = frame("main", "main", "prog.cc", "/usr/bin/prog");
    for (size_t i = 0; i < 4; i++)
        stack[i] = &f[i];
}

static void (*const makers[])(struct suppress_frame *, struct suppress_frame **) = {make_c,
                                                                                    make_cxx};

static bool suppresses(const char *text, int which, enum suppress_kind kind)
{
    struct suppressions *s = suppressions_new();
    struct suppress_frame frames[FRAMES_MAX], *stack[FRAMES_MAX];
    struct strbuf why = STRBUF_INIT;
    size_t by = SUPPRESS_NONE;

    makers[which](frames, stack);
    if (suppressions_parse(s, "x", false, text, strlen(text), &why) == 0)
        by = suppressions_match(s, stack, 4, kind);
    else
        diag("%s", why.buf);
    for (size_t i = 0; i < 4; i++)
        suppress_frame_release(&frames[i]);
    suppressions_free(s);
    strbuf_release(&why);
    return by != SUPPRESS_NONE;
}

static void lsan(void)
{
    static const struct {
        const char *text;
        bool is;
    } rows[] = {
        {"leak:make_node", true},
        {"leak:ake_n", true},
        {"leak:^make_node$", true},
        {"leak:^ake_node", false},
        {"leak:make_nod$", false},
        {"leak:^make_node", true},
        {"leak:node$", true},
        {"leak:m*node", true},
        {"leak:m?ke", false},
        {"leak:List::add", true},
        {"leak:_ZN4List", true},
        {"leak:list.cc", true},
        {"leak:libbare", true},
        {"leak:^libbare", false},
        {"leak:^/usr/lib/*.so.1$", true},
        {"leak:other", false},
        {"leak:*", true},
        {"leak:^$", true}, /* the code without a name */
        {"# a comment\n\n  leak:main \r\n", true},
        {"leak:a\nleak:b\nleak:main", true},
        {"#leak:main\n", false},
        {"", false},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        ok(suppresses(rows[i].text, 0, SUPPRESS_DEFINITE) == rows[i].is, "%s %s", rows[i].text,
           rows[i].is ? "suppresses" : "does not");
}

/* Rules for misuses suppress no leaks, and rules for leaks no misuses. */
static void misuses(void)
{
    static const struct {
        const char *text;
        bool is;
    } rows[] = {
        {"misuse:make_node", true},
        {"misuse:^list.cc$", true},
        {"misuse:other", false},
        {"leak:make_node", false},
        {"leak:make_node\nmisuse:main", true},
        {"{\n n\n Memcheck:Free\n fun:make_node\n}", true},
        {"{\n n\n Memcheck:Free\n fun:free\n fun:make_node\n}", true},
        {"{\n n\n Memcheck:Free\n fun:_ZdlPv\n fun:make_node\n fun:_ZN4List3addEi\n}", true},
        {"{\n n\n Memcheck:Free\n fun:main\n}", false},
        {"{\n n\n Memcheck:Leak\n fun:make_node\n}", false},
        {"{\n n\n Memcheck:Leak\n match-leak-kinds: all\n ...\n}", false},
        {"{\n n\n Helgrind,Memcheck:Free\n ...\n}", true},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        ok(suppresses(rows[i].text, 0, SUPPRESS_MISUSE) == rows[i].is, "%s %s", rows[i].text,
           rows[i].is ? "suppresses a misuse" : "does not suppress one");
    ok(!suppresses("misuse:make_node", 0, SUPPRESS_DEFINITE) &&
           !suppresses("{\n n\n Memcheck:Free\n ...\n}", 0, SUPPRESS_DEFINITE),
       "a rule for misuses suppresses no leak");
}

#define ENTRY(lines) "{\n  name\n  Memcheck:Leak\n" lines "\n}\n"

static void memcheck(void)
{
    static const struct {
        const char *text;
        int stack;
        bool is;
    } rows[] = {
        {ENTRY("fun:malloc\nfun:make_node"), 0, true},
        {ENTRY("fun:calloc\nfun:make_node"), 0, true},
        {ENTRY("fun:make_node"), 0, true},
        {ENTRY("fun:*\nfun:make_node"), 0, true},
        {ENTRY("fun:free\nfun:make_node"), 0, false},
        {ENTRY("fun:malloc\nfun:main"), 0, false},
        {ENTRY("fun:malloc\n...\nfun:main"), 0, true},
        {ENTRY("...\nfun:main"), 0, true},
        {ENTRY("..."), 0, true},
        {ENTRY("...\n..."), 0, true},
        {ENTRY("...\nfun:main\n..."), 0, true},
        {ENTRY("...\nfun:main\nfun:main"), 0, false},
        {ENTRY("fun:make_nod?\nfun:_ZN4List*\nobj:*libbare*\nfun:main"), 0, true},
        {ENTRY("fun:make_nod?\nfun:List::add(int)"), 0, true},
        {ENTRY("fun:make_node\nsrc:list.cc:12"), 0, true},
        {ENTRY("fun:make_node\nsrc:list.c"), 0, false},
        {ENTRY("obj:*/prog\nobj:*/prog\nobj:*\nobj:*/prog"), 0, true},
        {ENTRY("obj:*/vgpreload_memcheck-*.so\nobj:*/prog\nobj:*/prog"), 0, true},
        {ENTRY("obj:*/prog\nobj:*/prog\nobj:*\nobj:*/prog\nobj:*"), 0, false},
        {ENTRY("...\nfun:List*\n...\nfun:main"), 0, true},
        {ENTRY("...\nfun:main\n...\nfun:List*"), 0, false},
        {ENTRY("match-leak-kinds: definite\nfun:make_node"), 0, true},
        {ENTRY("match-leak-kinds: indirect , definite\nfun:make_node"), 0, true},
        {ENTRY("match-leak-kinds: reachable,possible\nfun:make_node"), 0, false},
        {ENTRY("match-leak-kinds: none\nfun:make_node"), 0, false},
        {ENTRY("match-leak-kinds:all\nfun:make_node"), 0, true},
        {"{\n n\n Helgrind,Memcheck:Leak\n fun:make_node\n}", 0, true},
        {"{\n n\n Helgrind:Race\n fun:make_node\n anything\n}", 0, false},
        {"{\n n\n Memcheck:Param\n write(buf)\n ...\n}\n" ENTRY("fun:make_node"), 0, true},
        {"{\n n\n Memcheckx:Leak\n ...\n}", 0, false},
        {"# c\n{ \n# c\n\n n\n\tMemcheck:Leak \n# fun:x\n fun:make_node\n}", 0, true},
        {ENTRY("fun:_Znam\nfun:_Z4fillv"), 1, true},
        {ENTRY("fun:_Znwm\nfun:_Z4fillv"), 1, true},
        {ENTRY("fun:malloc\nfun:_Znwm\nfun:_Znam\nfun:_Z4fillv"), 1, true},
        {ENTRY("fun:_Znwm\nfun:main"), 1, false},
        {ENTRY("fun:malloc\nfun:_Z4fillv"), 1, true},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        ok(suppresses(rows[i].text, rows[i].stack, SUPPRESS_DEFINITE) == rows[i].is,
           "row %zu %s: %s", i, rows[i].is ? "suppresses" : "does not", rows[i].text);
    ok(!suppresses(ENTRY("match-leak-kinds: definite\n..."), 0, SUPPRESS_INDIRECT),
       "a rule for definite leaks does not suppress an indirect one");
    ok(suppresses(ENTRY("..."), 0, SUPPRESS_OTHER),
       "a rule without leak kinds suppresses all kinds");
}

static void wrong_files(void)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"leak:a\nrace:b", "f:2: 'race:b' suppresses no leak"},
        {"leak:", "f:1: there is no pattern"},
        {"\n\nleak a", "f:3: 'leak a' suppresses no leak"},
        {"leak:a\n{\nn\nMemcheck:Leak\n...\n}", "f:2: '{' suppresses no leak"},
        {"{", "f:1: the file ends within an entry"},
        {"{\n}", "f:2: the entry has no name"},
        {"{\nn\n", "f:2: the file ends within an entry"},
        {"{\nn\nMemcheck\n}", "f:3: 'Memcheck' does not say what"},
        {"{\nn\nMemcheck:Leak\n}", "f:4: the entry has no frames"},
        {"{\nn\nMemcheck:Leak\nfun:a\n", "f:4: the file ends within an entry"},
        {"{\nn\nMemcheck:Cond\nfun:a\n", "f:4: the file ends within an entry"},
        {"{\nn\nMemcheck:Leak\nfoo:a\n}", "f:4: 'foo:a' is no frame"},
        {"{\nn\nMemcheck:Leak\nfun:\n}", "f:4: 'fun:' is no frame"},
        {"{\nn\nMemcheck:Leak\n....\n}", "f:4: '....' is no frame"},
        {"{\nn\nMemcheck:Leak\nmatch-leak-kinds: some\n...\n}", "f:4: 'some' is no kind"},
        {"{\nn\nMemcheck:Leak\nmatch-leak-kinds:\n...\n}", "f:4: '' is no kind"},
        {"{\nn\nMemcheck:Leak\n...\n}\nleak:a", "f:6: 'leak:a' is in no entry"},
        {"leak:a\n\1\2\xff", "f:2: '\1\2\xff' suppresses"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct suppressions *s = suppressions_new();
        struct strbuf why = STRBUF_INIT;
        int status = suppressions_parse(s, "f", false, rows[i].text, strlen(rows[i].text), &why);

        ok(status == FLAME_USAGE && strncmp(why.buf, rows[i].why, strlen(rows[i].why)) == 0,
           "wrong rule file %zu is refused with its message: %s", i, why.buf);
        strbuf_release(&why);
        suppressions_free(s);
    }
}

static void long_lines(void)
{
    struct suppressions *s = suppressions_new();
    struct strbuf text = STRBUF_INIT, why = STRBUF_INIT;

    strbuf_addstr(&text, "leak:");
    while (text.len < 4096)
        strbuf_addch(&text, 'a');
    is_int(suppressions_parse(s, "f", false, text.buf, text.len, &why), 0,
           "a line of 4096 bytes is accepted");
    strbuf_addch(&text, 'a');
    is_int(suppressions_parse(s, "f", false, text.buf, text.len, &why), FLAME_USAGE,
           "a line of 4097 bytes is refused");
    is_str(why.buf, "f:1: the line is longer than 4096 bytes",
           "a line of 4097 bytes is refused with its number");
    strbuf_clear(&text);
    strbuf_clear(&why);
    strbuf_addstr(&text, "{\nn\nMemcheck:Leak\n");
    for (int i = 0; i < 513; i++)
        strbuf_addstr(&text, "fun:a\n");
    is_int(suppressions_parse(s, "f", false, text.buf, text.len, &why), FLAME_USAGE,
           "a rule of 513 frames is refused");
    is_str(why.buf, "f:516: there are more than 512 frames",
           "a rule of 513 frames is refused with its line");
    strbuf_release(&text);
    strbuf_release(&why);
    suppressions_free(s);
}

/* The first matching rule gets the leak. Later matching rules still do not count as unused. */
static void order(void)
{
    static const char text[] = "leak:nothing\nleak:main\nleak:make_node\n";
    struct suppressions *s = suppressions_new();
    struct suppress_frame frames[FRAMES_MAX], *stack[FRAMES_MAX];

    make_c(frames, stack);
    suppressions_parse(s, "f", false, text, sizeof text - 1, NULL);
    is_int((intmax_t)suppressions_match(s, stack, 4, SUPPRESS_DEFINITE), 1,
           "the first matching rule suppresses");
    ok(!suppressions_at(s, 0)->matched && suppressions_at(s, 1)->matched &&
           suppressions_at(s, 2)->matched,
       "all matching rules are marked as matched");
    is_str(suppressions_at(s, 2)->name, "leak:make_node", "a rule has its line as its name");
    is_int(suppressions_at(s, 2)->line, 3, "a rule has its line's number");
    for (size_t i = 0; i < 4; i++)
        suppress_frame_release(&frames[i]);
    suppressions_free(s);
}

static void known(void)
{
    struct suppressions *s = suppressions_new();
    struct strbuf why = STRBUF_INIT;

    is_int(suppressions_parse(s, "known.supp", true, known_supp, known_supp_len(), &why), 0,
           "the built-in rules are accepted");
    is_str(why.buf, "", "the built-in rules give no message");
    for (size_t i = 0; i < suppressions_count(s); i++)
        ok(suppressions_at(s, i)->file == NULL && suppressions_at(s, i)->name[0],
           "built-in rule %s has a name and no file", suppressions_at(s, i)->name);
    strbuf_release(&why);
    suppressions_free(s);
}

int main(void)
{
    lsan();
    misuses();
    memcheck();
    wrong_files();
    long_lines();
    order();
    known();
    return done_testing();
}
