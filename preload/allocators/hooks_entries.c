/*
 * Problem: jemalloc, tcmalloc and mimalloc have functions besides malloc and its like, which
 * programs call by name. Programs find out whether such an allocator is there by a weak reference
 * to such a function, or by dlsym. So no process may find a mallocx that it would not have without
 * the recorder: these hooks are not exported.
 *
 * Algorithm: when recording begins, the loader has bound, or prepared, the calls of all modules
 * that the program has started with. If one of those modules defines a function of the table, the
 * hook is put into the other modules' slots for it, and calls the definition. The module that
 * defines it keeps its own slots: what it calls within itself is part of a call that is recorded
 * already. The slots of a module in a program without such a definition are not changed.
 *
 * Not recorded are calls through an address that dlsym gave, and calls by libraries that are opened
 * later. Nor are functions that take a heap of mimalloc's (mi_heap_malloc), because mi_heap_destroy
 * frees blocks without naming them.
 *
 * Rejected: exporting the hooks from a second library, which the driver would preload where the
 * program's file or a library that it needs has the functions. Each exec would have to decide
 * again, for the closure of what the next program needs. And a plugin that uses dlsym would find
 * the hook instead of the real function; if only the plugin has the allocator, it would not find
 * the real function at all.
 */
#define _GNU_SOURCE
#include <link.h>

#include "common/kernel.h"
#include "patch/entry/entry.h"
#include "preload/allocators/entry_hooks.h"
#include "preload/allocators/exe_symtab.h"
#include "unwind/dynsym.h"
#include "unwind/gotpatch.h"
#include "common/env/loaderlist.h"

extern const ElfW(Dyn) own_dynamic[] __asm__("_DYNAMIC") __attribute__((visibility("hidden")));

/*
 * Kinds of functions:
 *
 * GIVES   allocates a block of so many bytes
 * NEWS    like GIVES, but may call the program's new_handler and throw
 * COPIES  allocates a copy of a string
 * PUTS    posix_memalign
 * SIZES   resizes the block a
 * DROPS   like SIZES, but frees the block if there is no room
 * GROWS   xallocx: resizes the block a in its place
 * TAKES   frees the block a
 *
 * An n * size cannot overflow where there is a block.
 */
#define ENTRIES(GIVES, NEWS, COPIES, PUTS, SIZES, DROPS, GROWS, TAKES)                             \
    /* jemalloc */                                                                                 \
    GIVES(mallocx, a)                                                                              \
    SIZES(rallocx, b)                                                                              \
    GROWS(xallocx)                                                                                 \
    TAKES(dallocx)                                                                                 \
    TAKES(sdallocx)                                                                                \
    GIVES(je_malloc, a)                                                                            \
    GIVES(je_calloc, a *b)                                                                         \
    GIVES(je_aligned_alloc, b)                                                                     \
    GIVES(je_memalign, b)                                                                          \
    GIVES(je_valloc, a)                                                                            \
    GIVES(je_pvalloc, a)                                                                           \
    PUTS(je_posix_memalign)                                                                        \
    SIZES(je_realloc, b)                                                                           \
    SIZES(je_reallocarray, b *c)                                                                   \
    TAKES(je_free)                                                                                 \
    TAKES(je_free_sized)                                                                           \
    TAKES(je_free_aligned_sized)                                                                   \
    GIVES(je_mallocx, a)                                                                           \
    SIZES(je_rallocx, b)                                                                           \
    GROWS(je_xallocx)                                                                              \
    TAKES(je_dallocx)                                                                              \
    TAKES(je_sdallocx)                                                                             \
    /* tcmalloc */                                                                                 \
    GIVES(tc_malloc, a)                                                                            \
    GIVES(tc_malloc_skip_new_handler, a)                                                           \
    GIVES(tc_calloc, a *b)                                                                         \
    GIVES(tc_memalign, b)                                                                          \
    GIVES(tc_valloc, a)                                                                            \
    GIVES(tc_pvalloc, a)                                                                           \
    PUTS(tc_posix_memalign)                                                                        \
    SIZES(tc_realloc, b)                                                                           \
    TAKES(tc_free)                                                                                 \
    TAKES(tc_cfree)                                                                                \
    TAKES(tc_free_sized)                                                                           \
    NEWS(tc_new, a)                                                                                \
    NEWS(tc_new_nothrow, a)                                                                        \
    NEWS(tc_new_aligned, a)                                                                        \
    NEWS(tc_new_aligned_nothrow, a)                                                                \
    NEWS(tc_newarray, a)                                                                           \
    NEWS(tc_newarray_nothrow, a)                                                                   \
    NEWS(tc_newarray_aligned, a)                                                                   \
    NEWS(tc_newarray_aligned_nothrow, a)                                                           \
    TAKES(tc_delete)                                                                               \
    TAKES(tc_delete_nothrow)                                                                       \
    TAKES(tc_delete_sized)                                                                         \
    TAKES(tc_delete_aligned)                                                                       \
    TAKES(tc_delete_aligned_nothrow)                                                               \
    TAKES(tc_delete_sized_aligned)                                                                 \
    TAKES(tc_deletearray)                                                                          \
    TAKES(tc_deletearray_nothrow)                                                                  \
    TAKES(tc_deletearray_sized)                                                                    \
    TAKES(tc_deletearray_aligned)                                                                  \
    TAKES(tc_deletearray_aligned_nothrow)                                                          \
    TAKES(tc_deletearray_sized_aligned)                                                            \
    /* mimalloc */                                                                                 \
    GIVES(mi_malloc, a)                                                                            \
    GIVES(mi_malloc_small, a)                                                                      \
    GIVES(mi_zalloc, a)                                                                            \
    GIVES(mi_zalloc_small, a)                                                                      \
    GIVES(mi_calloc, a *b)                                                                         \
    GIVES(mi_mallocn, a *b)                                                                        \
    GIVES(mi_malloc_aligned, a)                                                                    \
    GIVES(mi_malloc_aligned_at, a)                                                                 \
    GIVES(mi_zalloc_aligned, a)                                                                    \
    GIVES(mi_zalloc_aligned_at, a)                                                                 \
    GIVES(mi_calloc_aligned, a *b)                                                                 \
    GIVES(mi_calloc_aligned_at, a *b)                                                              \
    GIVES(mi_aligned_alloc, b)                                                                     \
    GIVES(mi_memalign, b)                                                                          \
    GIVES(mi_valloc, a)                                                                            \
    GIVES(mi_pvalloc, a)                                                                           \
    PUTS(mi_posix_memalign)                                                                        \
    COPIES(mi_strdup)                                                                              \
    COPIES(mi_strndup)                                                                             \
    SIZES(mi_realloc, b)                                                                           \
    SIZES(mi_rezalloc, b)                                                                          \
    SIZES(mi_realloc_aligned, b)                                                                   \
    SIZES(mi_realloc_aligned_at, b)                                                                \
    SIZES(mi_rezalloc_aligned, b)                                                                  \
    SIZES(mi_rezalloc_aligned_at, b)                                                               \
    SIZES(mi_reallocn, b *c)                                                                       \
    SIZES(mi_recalloc, b *c)                                                                       \
    SIZES(mi_recalloc_aligned, b *c)                                                               \
    SIZES(mi_reallocarray, b *c)                                                                   \
    DROPS(mi_reallocf, b)                                                                          \
    TAKES(mi_free)                                                                                 \
    TAKES(mi_cfree)                                                                                \
    TAKES(mi_free_size)                                                                            \
    TAKES(mi_free_aligned)                                                                         \
    TAKES(mi_free_size_aligned)                                                                    \
    NEWS(mi_new, a)                                                                                \
    NEWS(mi_new_nothrow, a)                                                                        \
    NEWS(mi_new_aligned, a)                                                                        \
    NEWS(mi_new_aligned_nothrow, a)                                                                \
    NEWS(mi_new_n, a *b)                                                                           \
    /* the program's own definitions, in the place of the C library's and C++'s */                 \
    GIVES(own_malloc, a)                                                                           \
    GIVES(own_calloc, a *b)                                                                        \
    GIVES(own_memalign, b)                                                                         \
    GIVES(own_aligned_alloc, b)                                                                    \
    GIVES(own_valloc, a)                                                                           \
    GIVES(own_pvalloc, a)                                                                          \
    PUTS(own_posix_memalign)                                                                       \
    SIZES(own_realloc, b)                                                                          \
    SIZES(own_reallocarray, b *c)                                                                  \
    TAKES(own_free)                                                                                \
    TAKES(own_cfree)                                                                               \
    TAKES(own_free_sized)                                                                          \
    TAKES(own_free_aligned_sized)                                                                  \
    NEWS(own__Znwm, a)                                                                             \
    NEWS(own__Znam, a)                                                                             \
    NEWS(own__ZnwmRKSt9nothrow_t, a)                                                               \
    NEWS(own__ZnamRKSt9nothrow_t, a)                                                               \
    NEWS(own__ZnwmSt11align_val_t, a)                                                              \
    NEWS(own__ZnamSt11align_val_t, a)                                                              \
    NEWS(own__ZnwmSt11align_val_tRKSt9nothrow_t, a)                                                \
    NEWS(own__ZnamSt11align_val_tRKSt9nothrow_t, a)                                                \
    TAKES(own__ZdlPv)                                                                              \
    TAKES(own__ZdaPv)                                                                              \
    TAKES(own__ZdlPvm)                                                                             \
    TAKES(own__ZdaPvm)                                                                             \
    TAKES(own__ZdlPvRKSt9nothrow_t)                                                                \
    TAKES(own__ZdaPvRKSt9nothrow_t)                                                                \
    TAKES(own__ZdlPvSt11align_val_t)                                                               \
    TAKES(own__ZdaPvSt11align_val_t)                                                               \
    TAKES(own__ZdlPvmSt11align_val_t)                                                              \
    TAKES(own__ZdaPvmSt11align_val_t)                                                              \
    TAKES(own__ZdlPvSt11align_val_tRKSt9nothrow_t)                                                 \
    TAKES(own__ZdaPvSt11align_val_tRKSt9nothrow_t)

#define ID(name) ENTRY_##name,
#define SIZED_ID(name, size) ENTRY_##name,
enum entry { ENTRIES(SIZED_ID, SIZED_ID, ID, ID, SIZED_ID, SIZED_ID, ID, ID) ENTRY_COUNT };

/* Definitions of the functions that are hooked; NULL: not hooked. */
static entry_function *real_entry[ENTRY_COUNT];

/* ---- hooks ---- */

#define HOOK(name, call)                                                                           \
    static uintptr_t hook_##name(ENTRY_WORDS)                                                      \
    {                                                                                              \
        entry_function *next = real_entry[ENTRY_##name];                                           \
                                                                                                   \
        return call;                                                                               \
    }
#define GIVES(name, size) HOOK(name, entrycalls_give(next, a, b, c, d, size, LOCAL_CALLER()))
#define NEWS(name, size)                                                                           \
    HOOK(name,                                                                                     \
         (uintptr_t)operators_new_of((new_function *)(void *)next, size, a, b, c, LOCAL_CALLER()))
#define COPIES(name) HOOK(name, entrycalls_copy(next, a, b, c, d, LOCAL_CALLER()))
#define PUTS(name) HOOK(name, entrycalls_put(next, a, b, c, d, LOCAL_CALLER()))
#define SIZES(name, size)                                                                          \
    HOOK(name, entrycalls_size_anew(next, a, b, c, d, size, false, LOCAL_CALLER()))
#define DROPS(name, size)                                                                          \
    HOOK(name, entrycalls_size_anew(next, a, b, c, d, size, true, LOCAL_CALLER()))
#define GROWS(name) HOOK(name, entrycalls_grow(next, a, b, c, d, LOCAL_CALLER()))
#define TAKES(name) HOOK(name, (entrycalls_take(next, a, b, c, d), (uintptr_t)0))

ENTRIES(GIVES, NEWS, COPIES, PUTS, SIZES, DROPS, GROWS, TAKES)

#define ROW(name) {#name, (void *)hook_##name, 0},
#define SIZED_ROW(name, size) ROW(name)
#define YES(name) true,
#define SIZED_YES(name, size) true,
#define NO(name) false,
#define SIZED_NO(name, size) false,
static struct gotpatch hooks[] = {
    ENTRIES(SIZED_ROW, SIZED_ROW, ROW, ROW, SIZED_ROW, SIZED_ROW, ROW, ROW)};

/* Functions that free a block, or may do so. They must be hooked: if one is missed, freed blocks
 * stay live in the recording. If a function that only allocates is missed, its blocks are merely
 * absent. */
static const bool takes[] = {ENTRIES(SIZED_NO, SIZED_NO, NO, NO, SIZED_YES, SIZED_YES, YES, YES)};

/* Names of the program's own definitions: hooks[i].symbol is these and the symbol. */
enum { OWN_LEN = sizeof "own_" - 1 };

static bool is_own(size_t i)
{
    return i >= ENTRY_own_malloc;
}

/* ---- modules whose calls are hooked ---- */

/* Whether the module may define such functions: it has one of the names that identify the
 * allocator. */
static bool may_define(const struct dynsym *module)
{
    static const char *const signs[] = {"mallocx", "je_malloc", "tc_malloc", "mi_malloc"};

    for (size_t i = 0; i < ARRAY_LEN(signs); i++)
        if (dynsym_find(module, signs[i]))
            return true;
    return false;
}

/* Enters the functions that this module defines and no earlier one does. */
static void note_definitions(const struct dynsym *module)
{
    for (size_t i = 0; !is_own(i); i++)
        if (!real_entry[i]) {
            hooks[i].original = dynsym_find(module, hooks[i].symbol);
            real_entry[i] = (entry_function *)hooks[i].original;
        }
}

/* Patches one module's slots for the functions that other modules define. */
static void patch(const struct link_map *map)
{
    struct gotpatch some[ENTRY_COUNT];
    struct dynsym module;
    size_t n = 0;

    dynsym_open(&module, map);
    for (size_t i = 0; !is_own(i); i++)
        if (hooks[i].original && !dynsym_find(&module, hooks[i].symbol))
            some[n++] = hooks[i];
    /* In a sandbox it is unknown whether memory is readable; then the slots are left as they
     * are. */
    if (map == loaderlist()->r_map || kernel_readable(map->l_addr, sizeof(ElfW(Ehdr))))
        gotpatch_apply((void *)map, some, n);
}

/* ---- an allocator in the program's own file ---- */

struct inside {
    struct patch_entry entries[ENTRY_COUNT];
    size_t id[ENTRY_COUNT];
    size_t n;
    bool cut; /* parts of a function that frees blocks lie elsewhere */
};

/* Several names may be one function; the first name gets it. */
static void note_function(struct inside *in, size_t id, uintptr_t function, size_t size)
{
    for (size_t i = 0; i < in->n; i++)
        if (in->entries[i].function == function || in->id[i] == id)
            return;
    in->id[in->n] = id;
    in->entries[in->n++] = (struct patch_entry){
        .function = function, .size = size, .hook = hooks[id].replacement, .needed = takes[id]};
}

/* Enters the functions that the program's file exports. All its libraries use them as well. */
static void note_exported(struct inside *in, const struct dynsym *exe)
{
    for (size_t i = 0; i < ENTRY_COUNT; i++) {
        const char *name = hooks[i].symbol + (is_own(i) ? OWN_LEN : 0);
        size_t size;
        uintptr_t function = dynsym_find_sized(exe, name, &size);

        if (function)
            note_function(in, i, function, size);
    }
}

/*
 * Enters a symbol of the program's file that need not be exported: its allocator may be hidden,
 * under names with a prefix. Rust's jemalloc has a prefix of its own.
 */
static void note_hidden(const struct ownsym *s, void *arg)
{
    static const char rust[] = "_rjem_";
    struct inside *in = arg;
    const char *name = s->name;
    bool of_rust = strncmp(name, rust, sizeof rust - 1) == 0;

    if (of_rust)
        name += sizeof rust - 1;
    if (of_rust && strncmp(name, "je_", 3) == 0)
        name += 3;
    for (size_t i = 0; !is_own(i); i++) {
        const char *wanted = hooks[i].symbol;
        size_t len;

        if (wanted[2] != '_' || (of_rust && strncmp(wanted, "je_", 3) != 0))
            continue;
        wanted += of_rust ? 3 : 0;
        len = strlen(wanted);
        if (strncmp(name, wanted, len) != 0)
            continue;
        if (name[len] == '\0')
            note_function(in, i, s->at, s->size);
        else if (name[len] == '.' && strcmp(name + len, ".cold") != 0)
            in->cut |= takes[i];
    }
}

static void set_originals(void *arg)
{
    const struct inside *in = arg;

    for (size_t i = 0; i < in->n; i++)
        real_entry[in->id[i]] = (entry_function *)in->entries[i].original;
}

/* Patches the program's own allocator. True: it is patched now. */
static FLAME_NOINLINE bool patch_inside(const struct link_map *exe, const struct dynsym *module)
{
    static const char *const hidden[] = {"je_malloc", "_rjem_malloc", "_rjem_je_malloc",
                                         "tc_malloc", "mi_malloc"};
    static FLAME_BULK struct inside in; /* not touched if no function is entered */

    if (module)
        note_exported(&in, module);
    else
        ownsyms_each(exe, hidden, ARRAY_LEN(hidden), note_hidden, &in);
    if (!in.n || in.cut || kernel_threads() != 1)
        return false;
    return entries_apply(in.entries, in.n, set_originals, &in) == PATCH_DONE;
}

/* Patches an allocator in the program's own file. To be called before the other modules are
 * searched, as functions patched here need no slots. */
static bool look_inside(void)
{
    const struct link_map *exe = loaderlist()->r_map;
    struct dynsym module;

    dynsym_open(&module, exe);
    return patch_inside(exe,
                        dynsym_find(&module, "malloc") || may_define(&module) ? &module : NULL);
}

static bool begin(bool inside)
{
    bool any = false;

    inside = inside && look_inside();
    for (const struct link_map *m = loaderlist()->r_map; m; m = m->l_next) {
        struct dynsym module;

        if (m->l_ld == own_dynamic)
            continue;
        dynsym_open(&module, m);
        if (may_define(&module)) {
            note_definitions(&module);
            any = true;
        }
    }
    for (const struct link_map *m = any ? loaderlist()->r_map : NULL; m; m = m->l_next)
        if (m->l_ld != own_dynamic)
            patch(m);
    return inside;
}

bool (*const lifecycle_entries)(bool inside) = begin;
