/*
 * Wrappers of the malloc family, by name.
 *
 * The built-in list has the names of wrappers in programs and libraries in wide use, found in
 * recordings of them. A name that means more than "give me memory" in any program (alloc,
 * create, copy) is not in it. Missing ones are named by --wrapper, or in the page by a frame's
 * menu.
 */
#define _GNU_SOURCE
#include "render/wrappers.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/compiler.h"
#include "common/options/values.h"
#include "render/framename.h"
#include "render/linkcall.h"
#include "fold/viewtable.h"

static const char *const known[] = {
    /* Leaves of stacks of resident memory: kinds of pages. Their owner is below. */
    "[free around]",
    "[rounded up]",
    "[huge pages]",
    "[shared with another process]",
    "[file pages]",
    "[file pages of several processes]",
    "[shared memory pages]",
    /* C libraries, and prefixes of malloc in the names of allocators and programs: xmalloc,
       je_malloc, g_malloc0, zmalloc, CRYPTO_malloc, jv_mem_alloc. */
    "*malloc",
    "*malloc0",
    "*malloc_n",
    "*calloc",
    "*realloc",
    "*reallocf",
    "*zalloc",
    "*reallocarray",
    "*recallocarray",
    "*memalign",
    "*aligned_alloc",
    "valloc",
    "pvalloc",
    "xnmalloc",
    "*x2realloc",
    "x2nrealloc",
    "*xpalloc",
    "*mem_alloc",
    "*mem_calloc",
    "*mem_realloc",
    "*memdup",
    "*memdup0",
    "*memdup2",
    "*strdup",
    "*strndup",
    "*strdupz",
    "*strmemdup",
    "*xmemdupz",
    "wcsdup",
    "__strdup",
    "asprintf",
    "vasprintf",
    "xasprintf",
    "xvasprintf",
    "__*asprintf*",
    "g_malloc*",
    "g_try_malloc*",
    "g_realloc*",
    "g_slice_alloc*",
    "g_slice_copy",
    "g_strdup*",
    "ztrymalloc*",
    "zmalloc*",
    "zcalloc*",
    "zrealloc*",
    "ztryrealloc*",
    "ngx_alloc",
    "ngx_calloc",
    "sqlite3MemMalloc",
    "sqlite3MemRealloc",
    "*MallocRaw",
    "*MallocZero",
    "PyMem_*lloc",
    "CRYPTO_*alloc",
    "CRYPTO_*dup",
    "OPENSSL_*alloc",
    "safe*alloc",
    "ggc_internal_alloc",
    "ggc_internal_cleared_alloc",
    "*allocate_memory",
    /* CPython: functions of objects, and those without a name, work for the function of Python or
     * of a module that calls them. */
    "[python3.*+0x*]",
    "[libpython3.*+0x*]",
    "_Py*",
    "arena_map_*",
    "new_arena",
    "pymalloc_*",
    "allocate_from_new_pool",
    "PyBytes_*",
    "PyByteArray_*",
    "PyCFunction_*",
    "PyDict_*",
    "PyEval_*",
    "PyFloat_*",
    "PyFrozenSet_*",
    "PyFunction_*",
    "PyIter_*",
    "PyList_*",
    "PyLong_*",
    "PyMapping_*",
    "PyMethod_*",
    "PyNumber_*",
    "PyObject_*",
    "PySequence_*",
    "PySet_*",
    "PyTuple_*",
    "PyType_*",
    "PyUnicode_*",
    "PyVectorcall_*",
    "PyImport_*",
    "PyMarshal_*",
    "Py_Compile*",
    /* C++ */
    "operator new(*",
    "operator new[](*",
    "_Znw*",
    "_Zna*",
    "std::allocator<*>::allocate(*",
    "std::allocator_traits<*>::allocate(*",
    "std::__new_allocator<*>::allocate(*",
    "__gnu_cxx::new_allocator<*>::allocate(*",
    "__gnu_cxx::__alloc_traits<*>::allocate(*",
    "std::__allocate_guarded<*",
    "std::pmr::*::do_allocate(*",
    "std::pmr::memory_resource::allocate(*",
    "std::pmr::polymorphic_allocator<*>::allocate(*",
    "std::_Vector_base<*>::_M_allocate(*",
    "std::_Deque_base<*>::_M_allocate_*",
    "std::_Rb_tree<*>::_M_get_node(*",
    "std::_Rb_tree<*>::_M_create_node<*",
    "std::__detail::_Hashtable_alloc<*>::_M_allocate_*",
    "std::__cxx11::basic_string<*>::_M_create(*",
    "std::string::_Rep::_S_create(*",
    "std::make_unique<*",
    "std::__1::allocator<*>::allocate*",
    "std::__1::__libcpp_allocate*",
    "void* std::__1::__libcpp_operator_new<*",
    /* Rust */
    "__rust_alloc*",
    "__rust_realloc",
    "__rdl_alloc*",
    "__rdl_realloc",
    "alloc::alloc::*",
    "<alloc::alloc::Global as *",
    "alloc::raw_vec::*",
};

/* Whether a name matches a pattern, '*' being any characters. */
static bool fits(const char *pattern, const char *s, size_t len)
{
    const char *end = s + len, *star;
    size_t before;

    if (*pattern != '*' && (!len || *pattern != *s))
        return false;
    star = strchrnul(pattern, '*');
    before = (size_t)(star - pattern);
    if (len < before || memcmp(s, pattern, before) != 0)
        return false;
    if (!*star)
        return len == before;
    for (s += before;;) {
        const char *part = star + 1;
        size_t n;

        star = strchrnul(part, '*');
        n = (size_t)(star - part);
        if ((size_t)(end - s) < n)
            return false;
        if (!*star)
            return memcmp(end - n, part, n) == 0;
        s = memmem(s, (size_t)(end - s), part, n);
        if (!s)
            return false;
        s += n;
    }
}

bool wrappers_has(const struct wrappers_options *o, enum wrappers_scope scope, const char *name,
                  size_t len)
{
    struct framename f;

    if (scope == WRAPPERS_NONE || (scope == WRAPPERS_NAMED && !o->n))
        return false;
    f = framename_split(name, len);
    for (size_t i = 0; i < o->n; i++)
        if (fits(o->patterns[i], f.function, f.function_len))
            return true;
    for (size_t i = 0; scope == WRAPPERS_ALL && i < ARRAY_LEN(known); i++)
        if (fits(known[i], f.function, f.function_len))
            return true;
    return false;
}

enum wrappers_scope wrappers_scope(const struct wrappers_options *o, const char *view,
                                   const char *unit)
{
    const struct view *v = view_of_text(view);
    bool memory = v ? strcmp(v->palette, "mem") == 0 : unit && strcmp(unit, "bytes") == 0;

    if (o->none)
        return WRAPPERS_NONE;
    return memory ? WRAPPERS_ALL : o->n ? WRAPPERS_NAMED : WRAPPERS_NONE;
}

bool *wrappers_mark(const struct wrappers_options *o, enum wrappers_scope scope,
                    const struct frametree *t)
{
    bool *mark;

    if (scope == WRAPPERS_NONE)
        return NULL;
    mark = xcalloc(t->nnames, sizeof *mark);
    for (uint32_t i = 1; i < t->nnames; i++)
        mark[i] = wrappers_has(o, scope, t->names[i].s, t->names[i].len);
    return mark;
}

uint32_t wrappers_owner(const struct frametree *t, const bool *mark, uint32_t node)
{
    node = linkcall_of(t, node);
    while (mark && node && mark[t->nodes[node].name] && t->nodes[node].parent)
        node = t->nodes[node].parent;
    return node;
}

static int take_pattern(void *at, const struct opts_row *row, const struct opts_given *given)
{
    struct wrappers_options *o = at;

    (void)row;
    if (!*given->value)
        return opts_wrong_value(given, "a function's name, '*' in it for any characters");
    o->patterns = xreallocarray(o->patterns, o->n + 1, sizeof *o->patterns);
    o->patterns[o->n++] = xstrdup(given->value);
    return 0;
}

const struct opts_row wrappers_rows[] = {
    {"wrapper", 0, "NAME",
     "a function whose self count is its callers', as malloc's wrappers in views of memory; '*' "
     "stands for any characters; may be given again",
     .take = take_pattern, .at = 0},
    {"no-wrappers", 0, NULL, "no function is; self counts stay where stacks end",
     .take = opts_take_true, .at = offsetof(struct wrappers_options, none)},
    {0},
};

void wrappers_release(struct wrappers_options *o)
{
    for (size_t i = 0; i < o->n; i++)
        free(o->patterns[i]);
    free(o->patterns);
    *o = (struct wrappers_options){0};
}
