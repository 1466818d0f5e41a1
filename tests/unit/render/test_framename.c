#include "render/framename.h"
#include "render/export/functable.h"
#include "tests/tap.h"

/* name | function | file | line | mark */
static void check_split(const char *name, const char *function, const char *file, uint32_t line,
                        char mark)
{
    struct framename f = framename_split(name, strlen(name));

    ok(f.function_len == strlen(function) && memcmp(f.function, function, f.function_len) == 0,
       "'%s' has the function '%s'", name, function);
    ok(file ? f.file && f.file_len == strlen(file) && memcmp(f.file, file, f.file_len) == 0
            : !f.file,
       "the frame has the file '%s'", file ? file : "");
    ok(f.line == line && f.mark == mark, "the frame has line %u and annotation '%c'", line,
       mark ? mark : ' ');
}

static void check_clean(const char *name, size_t len, const char *want)
{
    struct strbuf sb = STRBUF_INIT;

    framename_add_clean(&sb, name, len);
    ok(strcmp(sb.buf, want) == 0 && sb.len == strlen(want), "the cleaned name is '%s'", want);
    strbuf_release(&sb);
}

static void add(struct frametree *t, const char *text)
{
    struct folded_line line;

    folded_parse_line(text, strlen(text), &line);
    frametree_add(t, &line);
}

static void check_table(void)
{
    struct functable ft;
    struct frametree t;
    size_t len;

    frametree_init(&t, false);
    add(&t, "all;f a.c:1;f a.c:2;f b.c:1;f;g_[k] 1");
    frametree_finish(&t);
    functable_init(&ft);
    functable_fill(&ft, &t, "k");
    is_int(ft.nfuncs, 6, "the table has the root, all, three functions f and g");
    is_int(ft.places[0].func, 0, "the root has the first function");
    ok(ft.places[1].func != 0, "a frame named all is another function than the root");
    is_int(ft.places[2].func, ft.places[3].func, "two lines of a file are one function");
    is_int(ft.places[3].line, 2, "a frame keeps its line");
    ok(ft.places[4].func != ft.places[3].func, "functions of two files are two");
    is_int((int)ft.funcs[ft.places[5].func].file, (int)FUNCTABLE_NONE,
           "a frame without a file has none");
    is_str(functable_text(&ft, ft.funcs[ft.places[6].func].name, &len)[0] == 'g' && len == 1 ? "g"
                                                                                             : "",
           "g", "a function's name has no annotation");
    functable_release(&ft);
    frametree_release(&t);
}

int main(void)
{
    check_split("f", "f", NULL, 0, 0);
    check_split("", "", NULL, 0, 0);
    check_split("f x.c:12", "f", "x.c", 12, 0);
    check_split("f x.c:12_[i]", "f", "x.c", 12, 'i');
    check_split("f_[k]", "f", NULL, 0, 'k');
    check_split("operator new(unsigned long) /src/a b.cc:7", "operator new(unsigned long) /src/a",
                "b.cc", 7, 0);
    check_split("f Makefile:3", "f Makefile:3", NULL, 0, 0);
    check_split("f dir/Makefile:3", "f", "dir/Makefile", 3, 0);
    check_split("x.c:12", "x.c:12", NULL, 0, 0);
    check_split(" x.c:12", " x.c:12", NULL, 0, 0);
    check_split("std::map<a, b.c::d>:12", "std::map<a, b.c::d>:12", NULL, 0, 0);
    check_split("f x.c:", "f x.c:", NULL, 0, 0);
    check_split("f x.c:1234567890", "f x.c:1234567890", NULL, 0, 0);
    check_split("f x.c:999999999", "f", "x.c", 999999999, 0);
    check_split(":1", ":1", NULL, 0, 0);
    check_split("1", "1", NULL, 0, 0);
    check_clean("a\tb\xff\x7f", 5, "a b\xef\xbf\xbd ");
    check_clean("a\0b", 3, "a b");
    check_clean("\xc3\xa4", 2, "\xc3\xa4");
    check_clean("\xc3", 1, "\xef\xbf\xbd");
    check_clean("x\xe2\x80\xaey", 5, "x\xef\xbf\xbdy");
    check_table();
    return done_testing();
}
