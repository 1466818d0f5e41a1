/*
 * Problem: the first malloc of a process comes before its next definition is known. The loader may
 * not even have relocated the code that would search for it.
 *
 * Algorithm: `real` starts as a table of first_* functions. The first call resolves everything.
 * Meanwhile the table points to the arena, for other threads and for ifunc resolvers that call
 * these functions, and it is filled in afterwards. The arena is a bump allocator with the size in
 * front of each block; nothing in it is ever freed. When it is full the request fails with ENOMEM.
 * Calls that come while the loader still relocates the program are served from the arena, too, and
 * resolve nothing.
 *
 * Rejected: __libc_malloc, because it would pass by every allocator and preloaded library after
 * this one.
 */
#define _GNU_SOURCE
#include "preload/next_malloc.h"

#include <errno.h>
#include <sys/syscall.h>

#include "common/kernel.h"
#include "preload/runtime/next_symbol.h"
#include "preload/runtime/variadic_args.h"
#include "common/processor/arch.h"
#include "common/processor/page_size.h"

#define ARENA_ALIGN 16

FLAME_BULK char bootstrap_arena[BOOTSTRAP_ARENA_SIZE] __attribute__((aligned(ARENA_ALIGN)));
static size_t arena_used;

/* ---- the arena ---- */

static void *arena_take(size_t align, size_t size)
{
    size_t at, old = __atomic_load_n(&arena_used, __ATOMIC_RELAXED), next;

    do {
        if (align < ARENA_ALIGN)
            align = ARENA_ALIGN;
        at = (old + ARENA_ALIGN + align - 1) & ~(align - 1);
        if (align > BOOTSTRAP_ARENA_SIZE || size > BOOTSTRAP_ARENA_SIZE ||
            at + size > BOOTSTRAP_ARENA_SIZE) {
            errno = ENOMEM;
            return NULL;
        }
        next = (at + size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    } while (!__atomic_compare_exchange_n(&arena_used, &old, next, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    memcpy(bootstrap_arena + at - sizeof size, &size, sizeof size);
    return bootstrap_arena + at;
}

size_t bootstrap_arena_size(const void *p)
{
    size_t size;

    memcpy(&size, (const char *)p - sizeof size, sizeof size);
    return size;
}

void *bootstrap_arena_realloc(void *p, size_t size)
{
    size_t old = bootstrap_arena_size(p);
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
    size_t old = p && bootstrap_arena_has(p) ? bootstrap_arena_size(p) : 0;

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
    return arena_take(page_size(), size);
}

static int arena_dlclose(void *handle FLAME_UNUSED)
{
    return -1;
}

/* Not an arena function: makes the system call without the C library. */
static long bare_syscall(long number, ...)
{
    unsigned long a[6];

    VARCALL_TAKE(a, 6, number);
    return kernel_answer(kernel_call6(number, a));
}

static int bare_prctl(int option, ...)
{
    unsigned long a[4];

    VARCALL_TAKE(a, 4, option);
    return (int)bare_syscall(SYS_prctl, option, a[0], a[1], a[2], a[3], 0L);
}

/* Fails: no action can be set this early. */
static int no_sigaction(int sig FLAME_UNUSED, const struct sigaction *act FLAME_UNUSED,
                        struct sigaction *old FLAME_UNUSED)
{
    errno = EAGAIN;
    return -1;
}

static sighandler_t no_signal(int sig FLAME_UNUSED, sighandler_t handler FLAME_UNUSED)
{
    errno = EAGAIN;
    return SIG_ERR;
}

const struct next_malloc bootstrap_arena_calls = {
    .malloc = arena_malloc,
    .calloc = arena_calloc,
    .realloc = arena_realloc,
    .free = arena_free,
    .posix_memalign = arena_posix_memalign,
    .aligned_alloc = arena_memalign,
    .memalign = arena_memalign,
    .valloc = arena_page,
    .pvalloc = arena_page,
    .malloc_usable_size = (size_t(*)(void *))bootstrap_arena_size,
    .dlclose = arena_dlclose,
    .prctl = bare_prctl,
    .syscall = bare_syscall,
    .sigaction = no_sigaction,
    .signal = no_signal,
};

/* ---- resolving ---- */

static void resolve(void)
{
    static int begun;
    struct next_malloc found;

    /* A second thread at this moment uses the arena until the first is done. */
    if (__atomic_exchange_n(&begun, 1, __ATOMIC_ACQ_REL))
        return;
    real = bootstrap_arena_calls;
#define FIND_AS(name, version)                                                                     \
    do {                                                                                           \
        *(void **)&found.name = next_symbol_find(#name, version);                                  \
        if (!found.name)                                                                           \
            found.name = bootstrap_arena_calls.name;                                               \
    } while (0)
#define FIND(name) FIND_AS(name, ARCH_LIBC_BASE)
    FIND(malloc);
    FIND(calloc);
    FIND(realloc);
    FIND(free);
    FIND(posix_memalign);
    FIND_AS(aligned_alloc, ARCH_LIBC_C11);
    FIND(memalign);
    FIND(valloc);
    FIND(pvalloc);
    FIND(malloc_usable_size);
    FIND(dlclose);
    FIND(prctl);
    FIND(syscall);
    FIND(sigaction);
    FIND(signal);
#undef FIND
#undef FIND_AS
    real = found;
}

/* The table that serves a call which came before anything was resolved. */
static const struct next_malloc *first(void)
{
    if (!next_symbol_loader_is_done())
        return &bootstrap_arena_calls;
    resolve();
    return &real;
}

void next_malloc_resolve(void)
{
    first();
}

static void *first_malloc(size_t size)
{
    return first()->malloc(size);
}

static void *first_calloc(size_t n, size_t size)
{
    return first()->calloc(n, size);
}

static void *first_realloc(void *p, size_t size)
{
    return first()->realloc(p, size);
}

static void first_free(void *p)
{
    first()->free(p);
}

static int first_posix_memalign(void **out, size_t align, size_t size)
{
    return first()->posix_memalign(out, align, size);
}

static void *first_aligned_alloc(size_t align, size_t size)
{
    return first()->aligned_alloc(align, size);
}

static void *first_memalign(size_t align, size_t size)
{
    return first()->memalign(align, size);
}

static void *first_valloc(size_t size)
{
    return first()->valloc(size);
}

static void *first_pvalloc(size_t size)
{
    return first()->pvalloc(size);
}

static size_t first_usable_size(void *p)
{
    return first()->malloc_usable_size(p);
}

static int first_dlclose(void *handle)
{
    return first()->dlclose(handle);
}

static int first_prctl(int option, ...)
{
    unsigned long a[4];

    VARCALL_TAKE(a, 4, option);
    return first()->prctl(option, a[0], a[1], a[2], a[3]);
}

static long first_syscall(long number, ...)
{
    unsigned long a[6];

    VARCALL_TAKE(a, 6, number);
    return first()->syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static int first_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
    return first()->sigaction(sig, act, old);
}

static sighandler_t first_signal(int sig, sighandler_t handler)
{
    return first()->signal(sig, handler);
}

struct next_malloc real = {
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
    .prctl = first_prctl,
    .syscall = first_syscall,
    .sigaction = first_sigaction,
    .signal = first_signal,
};
