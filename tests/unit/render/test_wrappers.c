/* Names that are wrappers of the malloc family, and the frames that own their counts. */
#define _GNU_SOURCE
#include "render/wrappers.h"

#include <stdlib.h>

#include "tests/tap.h"

static const struct wrappers_options plain;

static bool is_one(const char *name)
{
    return wrappers_has(&plain, WRAPPERS_ALL, name, strlen(name));
}

static void test_known(void)
{
    static const char *const yes[] = {
        "malloc",
        "calloc",
        "xmalloc",
        "xmalloc xmalloc.c:148",
        "xmalloc xmalloc.c:148_[i]",
        "__libc_malloc",
        "je_malloc",
        "g_malloc0_n",
        "jv_mem_alloc",
        "zmalloc_usable",
        "CRYPTO_zalloc",
        "xstrdup",
        "__strdup",
        "operator new(unsigned long)",
        "operator new[](unsigned long, std::align_val_t)",
        "_Znwm",
        "std::allocator<char>::allocate(unsigned long)",
        "std::__new_allocator<std::pair<int const, a::b> >::allocate(unsigned long, void const*)",
        "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> "
        ">::_M_create("
        "unsigned long&, unsigned long)",
        "alloc::raw_vec::finish_grow",
        "PyObject_Malloc",
        "PyObject_Call",
        "PyUnicode_New",
        "[python3.11+0x510a2c]",
        "[libpython3.14.so.1.0+0x8]",
        "_PyMem_RawCalloc",
        "[free around]",
        "[huge pages]",
        "[shared with another process]",
        "[file pages of several processes]",
    };
    static const char *const no[] = {
        "",
        "f free around]",
        "[libraries]",
        "[anonymous memory]",
        "main",
        "alloc",
        "mallocator",
        "malloc_stats",
        "parse_malloc_options",
        "tree_create",
        "operator new",
        "std::allocator<char>::deallocate(char*, unsigned long)",
        "std::vector<int, std::allocator<int> >::push_back(int const&)",
        "my::operator new(unsigned long)",
        "[libc.so.6+0x1234]",
        "PyArray_New",
        "[python3.11]",
        "[_json.cpython-311.so+0x10]",
        "strdup_of_main",
    };

    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        ok(is_one(yes[i]), "%s is an allocation wrapper", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        ok(!is_one(no[i]), "%s is not an allocation wrapper", no[i]);
}

static bool named(const char *pattern, const char *name)
{
    char *one = (char *)pattern;
    struct wrappers_options o = {.patterns = &one, .n = 1};

    return wrappers_has(&o, WRAPPERS_NAMED, name, strlen(name));
}

static void test_patterns(void)
{
    ok(named("pool_get", "pool_get"), "a pattern matches its own name");
    ok(!named("pool_get", "pool_get2") && !named("pool_get2", "pool_get"),
       "a pattern matches whole names only");
    ok(named("*", "") && named("*", "anything"), "* matches any name");
    ok(named("a*", "a") && named("a*", "ab") && !named("a*", "ba"),
       "a star at the end of a pattern matches any ending");
    ok(named("*a", "a") && named("*a", "ba") && !named("*a", "ab"),
       "a star at the beginning of a pattern matches any beginning");
    ok(named("a*b*c", "abc") && named("a*b*c", "axbxbxc") && !named("a*b*c", "acb"),
       "stars within a pattern match anything between");
    ok(!named("ab*bc", "abc"), "no character of a name matches twice");
    ok(named("a**b", "ab") && named("**", ""), "adjacent stars match like one");
    ok(!named("xmalloc", "malloc") && !named("pool", "malloc"),
       "built-in wrappers do not match with named ones only");
}

static void test_scopes(void)
{
    char *one = (char *)"a";
    struct wrappers_options some = {.patterns = &one, .n = 1}, none = {.none = true};

    ok(wrappers_scope(&plain, "alloc", NULL) == WRAPPERS_ALL,
       "all wrappers apply to a memory view");
    ok(wrappers_scope(&plain, "count", "calls") == WRAPPERS_ALL,
       "all wrappers apply to a view of calls");
    ok(wrappers_scope(&plain, NULL, "bytes") == WRAPPERS_ALL,
       "all wrappers apply to text in bytes");
    ok(wrappers_scope(&plain, "off", "us") == WRAPPERS_NONE,
       "no wrapper applies to an off-CPU view");
    ok(wrappers_scope(&plain, NULL, NULL) == WRAPPERS_NONE, "no wrapper applies to samples");
    ok(wrappers_scope(&some, "off", "us") == WRAPPERS_NAMED,
       "named wrappers apply to an off-CPU view");
    ok(wrappers_scope(&some, "live", "bytes") == WRAPPERS_ALL,
       "all wrappers apply to a memory view beside named ones");
    ok(wrappers_scope(&none, "live", "bytes") == WRAPPERS_NONE,
       "no wrapper applies if none is wanted");
}

static void add(struct frametree *t, const char *line)
{
    struct folded_line parsed;

    if (folded_parse_line(line, strlen(line), &parsed) != 1)
        abort();
    frametree_add(t, &parsed);
}

/* The name of the frame that the own count of frame `name` belongs to. */
static void owner_is(const struct frametree *t, const bool *mark, const char *name,
                     const char *want)
{
    for (uint32_t i = 1; i < t->n; i++)
        if (frametree_name(t, i)->len == strlen(name) &&
            memcmp(frametree_name(t, i)->s, name, strlen(name)) == 0) {
            const struct frametree_name *got = frametree_name(t, wrappers_owner(t, mark, i));

            ok(got->len == strlen(want) && memcmp(got->s, want, got->len) == 0,
               "the own count of %s belongs to %s", name, want);
            return;
        }
    ok(false, "%s is in the tree", name);
}

static void test_owner(void)
{
    struct frametree t;
    bool *mark;

    frametree_init(&t, false);
    add(&t, "main;parse;xstrdup;xmalloc;malloc 4");
    add(&t, "calloc;xcalloc 4");
    add(&t,
        "Py_BytesMain;_PyEval_EvalFrameDefault;py::f:a.py;PySequence_List;[python3.11+0x510a2c] 4");
    add(&t,
        "Py_BytesMain;_PyEval_EvalFrameDefault;py::f:a.py;PyArray_NewFromDescr;_PyObject_New 4");
    frametree_finish(&t);
    mark = wrappers_mark(&plain, WRAPPERS_ALL, &t);
    owner_is(&t, mark, "malloc", "parse");
    owner_is(&t, mark, "xstrdup", "parse");
    owner_is(&t, mark, "parse", "parse");
    owner_is(&t, mark, "xcalloc", "calloc");
    owner_is(&t, mark, "[python3.11+0x510a2c]", "py::f:a.py");
    owner_is(&t, mark, "_PyObject_New", "PyArray_NewFromDescr");
    owner_is(&t, mark, "_PyEval_EvalFrameDefault", "Py_BytesMain");
    owner_is(&t, NULL, "malloc", "malloc");
    ok(wrappers_owner(&t, mark, 0) == 0, "the root's own count belongs to the root");
    ok(!wrappers_mark(&plain, WRAPPERS_NONE, &t), "without wrappers there are no marks");
    free(mark);
    frametree_release(&t);
}

/* A chain of wakers ends with a thread's name; the call of the last waker owns the count. */
static void test_chain_owner(void)
{
    struct frametree t;

    frametree_init(&t, false);
    add(&t, "app;f;lock;--;give_[w];work_[w];w1_[w];--;[timer]_[w];nap_[w];sleep_[w];w2_[w] 4");
    add(&t, "app;f;lock;--;give_[w];work_[w];w1_[w];--;[page fault]_[w];w-17_[w];w3_[w] 4");
    add(&t, "app;f;lock;--;give_[w];work_[w];w1_[w];--;[signal]_[w];[java]_[w];run_[w];w4_[w] 4");
    add(&t, "app;f;lock;--;[run queue]_[w] 4");
    add(&t, "x;cut_[w];w5_[w] 4");
    add(&t, "app;f;plain;--;tell;w6 4");
    frametree_finish(&t);
    owner_is(&t, NULL, "w1_[w]", "give_[w]");
    owner_is(&t, NULL, "w2_[w]", "nap_[w]");
    owner_is(&t, NULL, "w3_[w]", "[page fault]_[w]");
    owner_is(&t, NULL, "w4_[w]", "[signal]_[w]");
    owner_is(&t, NULL, "[run queue]_[w]", "[run queue]_[w]");
    owner_is(&t, NULL, "w5_[w]", "w5_[w]");
    owner_is(&t, NULL, "w6", "w6");
    owner_is(&t, NULL, "lock", "lock");
    frametree_release(&t);
}

int main(void)
{
    test_known();
    test_patterns();
    test_scopes();
    test_owner();
    test_chain_owner();
    return done_testing();
}
