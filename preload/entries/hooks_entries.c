/*
 * Problem: jemalloc, tcmalloc and mimalloc have functions besides malloc and its like, which
 * programs call by name. Whether an allocator is there, programs ask by a weak reference to such
 * a function, or by dlsym. So no process may find a mallocx that would not have one without us:
 * these hooks are exported to nobody.
 *
 * Algorithm: when recording begins the loader has bound, or prepared, the calls of everything
 * that the program has started with. If one of those modules defines a function of the table, the
 * others' slots for it are set to the hook, which calls the definition. The module that
 * defines it keeps its own slots: what it calls within itself is part of the call that
 * has been told of. A module without the function's definer beside it is left as it is.
 *
 * What is called through an address that dlsym gave, and by libraries that are opened later, is
 * not told of; nor what takes a heap of mimalloc's (mi_heap_malloc), as mi_heap_destroy
 * gives back blocks that nobody names.
 *
 * Rejected: exporting the hooks from a second library, which the driver would preload where
 * the program's file or a library that it needs has the functions: each exec would have to
 * decide again, for the closure of what the next program needs, and a plugin that asks by dlsym
 * would find our hook in the place of the real function, and not find it where it is the only
 * one to bring the allocator.
 */
#define _GNU_SOURCE
#include <link.h>

#include "common/kernel.h"
#include "preload/entries/operators.h"
#include "unwind/dynsym.h"
#include "unwind/gotpatch.h"

extern const ElfW(Dyn) own_dynamic[] __asm__("_DYNAMIC") __attribute__((visibility("hidden")));

/* All arguments there may be, in registers. What a function does not have is passed on unread. */
#define WORDS uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d FLAME_UNUSED
typedef uintptr_t entry_function(WORDS);

/*
 * GIVES  a block of so many bytes; NEWS: the same, but it may call the program's new_handler and
 *        throw; COPIES: of a string's length; PUTS: posix_memalign
 * SIZES  another size for the block a; DROPS: the same, which frees it if there is no room
 * GROWS  xallocx: another size for the block a, in its place
 * TAKES  the block a
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
    NEWS(mi_new_n, a *b)

#define ID(name) ENTRY_##name,
#define SIZED_ID(name, size) ENTRY_##name,
enum entry { ENTRIES(SIZED_ID, SIZED_ID, ID, ID, SIZED_ID, SIZED_ID, ID, ID) ENTRY_COUNT };

/* The definitions, of those that are hooked. */
static entry_function *real_entry[ENTRY_COUNT];

/* ---- what is done around each ---- */

/* Which functions belong together is the allocator's business. */
static const struct telling_free unjudged = {TRACE_CALL_NONE, TELLING_NO_SIZE, NULL};

/* Inlined in any case, all of these, as resize in hooks.c. */
FLAME_INLINE uintptr_t give(entry_function *next, WORDS, size_t size, const uintptr_t *caller)
{
    uintptr_t p;

    if (!telling_enter())
        return next(a, b, c, d);
    p = next(a, b, c, d);
    telling_alloc((void *)p, size, caller);
    return p;
}

FLAME_INLINE uintptr_t copy(entry_function *next, WORDS, const uintptr_t *caller)
{
    uintptr_t p;

    if (!telling_enter())
        return next(a, b, c, d);
    p = next(a, b, c, d);
    telling_alloc((void *)p, p ? strlen((const char *)p) + 1 : 0, caller);
    return p;
}

FLAME_INLINE uintptr_t put(entry_function *next, WORDS, const uintptr_t *caller)
{
    uintptr_t err;

    if (!telling_enter())
        return next(a, b, c, d);
    err = next(a, b, c, d);
    telling_alloc((int)err ? NULL : *(void **)a, c, caller);
    return err;
}

/* NULL for a size of 0 means freed. */
FLAME_INLINE uintptr_t size_anew(entry_function *next, WORDS, size_t size, bool drops,
                                 const uintptr_t *caller)
{
    struct telling_resize r;
    uintptr_t fresh;

    if (unlikely(real_is_arena((void *)a)))
        return (uintptr_t)real_arena_realloc((void *)a, size);
    if (!telling_enter())
        return next(a, b, c, d);
    telling_resize_begin(&r, (void *)a, unjudged);
    fresh = next(a, b, c, d);
    telling_resize_end(&r, (void *)a, (void *)fresh, size, drops || size == 0, caller);
    return fresh;
}

/* What xallocx returns is the room that the block has now; asked for were b to b + c bytes. */
FLAME_INLINE uintptr_t grow(entry_function *next, WORDS, const uintptr_t *caller)
{
    struct telling_resize r;
    uintptr_t room, most;

    if (!telling_enter())
        return next(a, b, c, d);
    telling_resize_begin(&r, (void *)a, unjudged);
    room = next(a, b, c, d);
    most = b + c < b ? room : b + c;
    telling_resize_end(&r, (void *)a, room < b ? NULL : (void *)a, room < most ? room : most, false,
                       caller);
    return room;
}

static void take(entry_function *next, WORDS)
{
    if (real_is_arena((void *)a))
        return;
    if (!a || !telling_enter()) {
        next(a, b, c, d);
        return;
    }
    guard.busy = GUARD_RECORDING;
    if (lifecycle_on())
        record_free((void *)a);
    guard.busy = GUARD_REAL;
    next(a, b, c, d);
    telling_leave();
}

/* ---- hooks ---- */

#define HOOK(name, call)                                                                           \
    static uintptr_t hook_##name(WORDS)                                                            \
    {                                                                                              \
        entry_function *next = real_entry[ENTRY_##name];                                           \
                                                                                                   \
        return call;                                                                               \
    }
#define GIVES(name, size) HOOK(name, give(next, a, b, c, d, size, LOCAL_CALLER()))
#define NEWS(name, size)                                                                           \
    HOOK(name,                                                                                     \
         (uintptr_t)operators_new_of((new_function *)(void *)next, size, a, b, c, LOCAL_CALLER()))
#define COPIES(name) HOOK(name, copy(next, a, b, c, d, LOCAL_CALLER()))
#define PUTS(name) HOOK(name, put(next, a, b, c, d, LOCAL_CALLER()))
#define SIZES(name, size) HOOK(name, size_anew(next, a, b, c, d, size, false, LOCAL_CALLER()))
#define DROPS(name, size) HOOK(name, size_anew(next, a, b, c, d, size, true, LOCAL_CALLER()))
#define GROWS(name) HOOK(name, grow(next, a, b, c, d, LOCAL_CALLER()))
#define TAKES(name) HOOK(name, (take(next, a, b, c, d), (uintptr_t)0))

ENTRIES(GIVES, NEWS, COPIES, PUTS, SIZES, DROPS, GROWS, TAKES)

#define ROW(name) {#name, (void *)hook_##name, 0},
#define SIZED_ROW(name, size) ROW(name)
static struct gotpatch hooks[] = {
    ENTRIES(SIZED_ROW, SIZED_ROW, ROW, ROW, SIZED_ROW, SIZED_ROW, ROW, ROW)};

/* ---- whose calls they take ---- */

/* By one of these an allocator with such functions is known. */
static bool may_define(const struct dynsym *module)
{
    static const char *const signs[] = {"mallocx", "je_malloc", "tc_malloc", "mi_malloc"};

    for (size_t i = 0; i < ARRAY_LEN(signs); i++)
        if (dynsym_find(module, signs[i]))
            return true;
    return false;
}

/* What it defines and nobody before it. */
static void note_definitions(const struct dynsym *module)
{
    for (size_t i = 0; i < ENTRY_COUNT; i++)
        if (!real_entry[i]) {
            hooks[i].original = dynsym_find(module, hooks[i].symbol);
            real_entry[i] = (entry_function *)hooks[i].original;
        }
}

/* The patches for one module: of functions that somebody else defines. */
static void patch(const struct link_map *map)
{
    struct gotpatch some[ENTRY_COUNT];
    struct dynsym module;
    size_t n = 0;

    dynsym_open(&module, map);
    for (size_t i = 0; i < ENTRY_COUNT; i++)
        if (hooks[i].original && !dynsym_find(&module, hooks[i].symbol))
            some[n++] = hooks[i];
    /* In a sandbox nobody can say; then they are left as they are. */
    if (map == _r_debug.r_map || kernel_readable(map->l_addr, sizeof(ElfW(Ehdr))))
        gotpatch_apply((void *)map, some, n);
}

static void begin(void)
{
    bool any = false;

    for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next) {
        struct dynsym module;

        if (m->l_ld == own_dynamic)
            continue;
        dynsym_open(&module, m);
        if (may_define(&module)) {
            note_definitions(&module);
            any = true;
        }
    }
    for (const struct link_map *m = any ? _r_debug.r_map : NULL; m; m = m->l_next)
        if (m->l_ld != own_dynamic)
            patch(m);
}

void (*const lifecycle_entries)(void) = begin;
