/*
 * Problem: the first malloc of a process comes before we know the real malloc,
 * and asking dlsym for it may call malloc.
 *
 * Algorithm: `real` starts as a table of first_* functions. The first call
 * resolves everything: the table is pointed to the arena for the time of the
 * dlsym calls and filled in afterwards. The arena is a bump allocator with the
 * size in front of each block; nothing in it is ever given back. When it is full
 * the request fails with ENOMEM, which dlsym survives.
 *
 * Rejected: __libc_malloc. It would pass by every allocator and shim beneath us.
 */
#define _GNU_SOURCE
#include "preload/real.h"

#include <dlfcn.h>
#include <errno.h>

#define ARENA_ALIGN 16

char real_arena[REAL_ARENA_SIZE] __attribute__((aligned(ARENA_ALIGN)));
static size_t arena_used;

/* ---- the arena ---- */

static void *arena_take(size_t align, size_t size)
{
    size_t at, old = __atomic_load_n(&arena_used, __ATOMIC_RELAXED), next;

    do {
        if (align < ARENA_ALIGN)
            align = ARENA_ALIGN;
        at = (old + ARENA_ALIGN + align - 1) & ~(align - 1);
        if (align > REAL_ARENA_SIZE || size > REAL_ARENA_SIZE || at + size > REAL_ARENA_SIZE) {
            errno = ENOMEM;
            return NULL;
        }
        next = (at + size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    } while (!__atomic_compare_exchange_n(&arena_used, &old, next, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    memcpy(real_arena + at - sizeof size, &size, sizeof size);
    return real_arena + at;
}

size_t real_arena_size(const void *p)
{
    size_t size;

    memcpy(&size, (const char *)p - sizeof size, sizeof size);
    return size;
}

void *real_arena_realloc(void *p, size_t size)
{
    size_t old = real_arena_size(p);
    void *fresh = real.malloc(size);

    if (fresh)
        memcpy(fresh, p, old < size ? old : size);
    return fresh;
}

static void *arena_malloc(size_t size)
{
    return arena_take(ARENA_ALIGN, size);
}

static void *arena_calloc(size_t n, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(n, size, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    return arena_take(ARENA_ALIGN, total); /* fresh memory of a static array: zero */
}

static void *arena_realloc(void *p, size_t size)
{
    void *fresh = arena_malloc(size);
    size_t old = p && real_is_arena(p) ? real_arena_size(p) : 0;

    if (fresh && old)
        memcpy(fresh, p, old < size ? old : size);
    return fresh;
}

static void arena_free(void *p FLAME_UNUSED)
{
}

static void *arena_memalign(size_t align, size_t size)
{
    return arena_take(align, size);
}

static int arena_posix_memalign(void **out, size_t align, size_t size)
{
    void *p = arena_take(align, size);

    if (!p)
        return ENOMEM;
    *out = p;
    return 0;
}

static void *arena_page(size_t size)
{
    return arena_take(4096, size);
}

static int arena_dlclose(void *handle FLAME_UNUSED)
{
    return -1;
}

const struct real real_arena_calls = {
    .malloc = arena_malloc,
    .calloc = arena_calloc,
    .realloc = arena_realloc,
    .free = arena_free,
    .posix_memalign = arena_posix_memalign,
    .aligned_alloc = arena_memalign,
    .memalign = arena_memalign,
    .valloc = arena_page,
    .pvalloc = arena_page,
    .malloc_usable_size = (size_t(*)(void *))real_arena_size,
    .dlclose = arena_dlclose,
};

/* ---- resolving ---- */

static void resolve(void)
{
    static int begun;
    struct real found;

    /* A second thread this early uses the arena until the first is done. */
    if (__atomic_exchange_n(&begun, 1, __ATOMIC_ACQ_REL))
        return;
    real = real_arena_calls;
#define FIND(name)                                                                                 \
    do {                                                                                           \
        *(void **)&found.name = dlsym(RTLD_NEXT, #name);                                           \
        if (!found.name)                                                                           \
            found.name = real_arena_calls.name;                                                    \
    } while (0)
    FIND(malloc);
    FIND(calloc);
    FIND(realloc);
    FIND(free);
    FIND(posix_memalign);
    FIND(aligned_alloc);
    FIND(memalign);
    FIND(valloc);
    FIND(pvalloc);
    FIND(malloc_usable_size);
    FIND(dlclose);
#undef FIND
    real = found;
}

static void *first_malloc(size_t size)
{
    resolve();
    return real.malloc(size);
}

static void *first_calloc(size_t n, size_t size)
{
    resolve();
    return real.calloc(n, size);
}

static void *first_realloc(void *p, size_t size)
{
    resolve();
    return real.realloc(p, size);
}

static void first_free(void *p)
{
    resolve();
    real.free(p);
}

static int first_posix_memalign(void **out, size_t align, size_t size)
{
    resolve();
    return real.posix_memalign(out, align, size);
}

static void *first_aligned_alloc(size_t align, size_t size)
{
    resolve();
    return real.aligned_alloc(align, size);
}

static void *first_memalign(size_t align, size_t size)
{
    resolve();
    return real.memalign(align, size);
}

static void *first_valloc(size_t size)
{
    resolve();
    return real.valloc(size);
}

static void *first_pvalloc(size_t size)
{
    resolve();
    return real.pvalloc(size);
}

static size_t first_usable_size(void *p)
{
    resolve();
    return real.malloc_usable_size(p);
}

static int first_dlclose(void *handle)
{
    resolve();
    return real.dlclose(handle);
}

struct real real = {
    .malloc = first_malloc,
    .calloc = first_calloc,
    .realloc = first_realloc,
    .free = first_free,
    .posix_memalign = first_posix_memalign,
    .aligned_alloc = first_aligned_alloc,
    .memalign = first_memalign,
    .valloc = first_valloc,
    .pvalloc = first_pvalloc,
    .malloc_usable_size = first_usable_size,
    .dlclose = first_dlclose,
};
