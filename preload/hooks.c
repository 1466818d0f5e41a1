/*
 * The interposed functions and nothing else; preload/libflamemem.map exports
 * exactly these. Each calls the real function next in link order and tells the
 * recorder. A hook called from inside another hook (an allocator that uses
 * malloc itself, a signal handler that interrupted us) only passes the call on.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>

#include "preload/run/beneath.h"
#include "preload/telling.h"
#include "unwind/modules.h"

/* glibc 2.36's headers do not declare these; C23 does. */
void free_sized(void *p, size_t size);
void free_aligned_sized(void *p, size_t align, size_t size);
void *pvalloc(size_t size);
void *memalign(size_t align, size_t size);
size_t malloc_usable_size(void *p);
int dlclose(void *handle);

EXPORT void *malloc(size_t size)
{
    void *p;

    if (!telling_enter())
        return telling_nested()->malloc(size);
    p = real.malloc(size);
    telling_alloc(p, size, LOCAL_CALLER());
    return p;
}

EXPORT void *calloc(size_t n, size_t size)
{
    void *p;

    if (!telling_enter())
        return telling_nested()->calloc(n, size);
    p = real.calloc(n, size);
    telling_alloc(p, n * size,
                  LOCAL_CALLER()); /* cannot overflow: the real call would have failed */
    return p;
}

static FLAME_COLD void after_unload(void)
{
    int saved = errno;

    modules_after_dlclose();
    beneath_forget();
    errno = saved;
}

/* `from`: who called. */
static inline void give_back(void *p, uintptr_t from)
{
    if (!p || real_is_arena(p))
        return;
    if (!telling_enter()) {
        real.free(p);
        return;
    }
    /* Allocators look at what lies before a block: let that come while we look ours up. */
    __builtin_prefetch((char *)p - 16);
    guard.busy = GUARD_RECORDING;
    if (lifecycle_on())
        record_free(p);
    if (unlikely(modules_is_loader(from)))
        after_unload();
    guard.busy = GUARD_REAL;
    real.free(p);
    telling_leave();
}

EXPORT void free(void *p)
{
    give_back(p, CALLED_FROM());
}

EXPORT void free_sized(void *p, size_t size FLAME_UNUSED)
{
    give_back(p, CALLED_FROM());
}

EXPORT void free_aligned_sized(void *p, size_t align FLAME_UNUSED, size_t size FLAME_UNUSED)
{
    give_back(p, CALLED_FROM());
}

/* Inlined in any case: a function that ended by a jump to it would be left when its frame,
 * the caller's registers, is looked at. */
FLAME_INLINE void *resize(void *p, size_t size, const uintptr_t *caller)
{
    struct block old;
    bool on, known;
    void *fresh;

    if (unlikely(real_is_arena(p)))
        return guard.busy == GUARD_STARTING ? real_arena_calls.realloc(p, size)
                                            : real_arena_realloc(p, size);
    if (!telling_enter())
        return telling_nested()->realloc(p, size);
    guard.busy = GUARD_RECORDING;
    on = lifecycle_on();
    known = on && p && record_take(p, &old);
    guard.busy = GUARD_REAL;
    fresh = real.realloc(p, size);
    guard.busy = GUARD_RECORDING;
    if (known) {
        /* NULL for a size of 0 means freed; for any other size, failed. */
        if (fresh || size == 0)
            record_taken_free(p, old);
        else
            record_put_back(p, old);
    }
    if (on && fresh)
        record_alloc(fresh, size, caller);
    telling_leave();
    return fresh;
}

EXPORT void *realloc(void *p, size_t size)
{
    return resize(p, size, LOCAL_CALLER());
}

EXPORT void *reallocarray(void *p, size_t n, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(n, size, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    return resize(p, total, LOCAL_CALLER());
}

EXPORT int posix_memalign(void **out, size_t align, size_t size)
{
    int err;

    if (!telling_enter())
        return telling_nested()->posix_memalign(out, align, size);
    err = real.posix_memalign(out, align, size);
    telling_alloc(err ? NULL : *out, size, LOCAL_CALLER());
    return err;
}

EXPORT void *aligned_alloc(size_t align, size_t size)
{
    void *p;

    if (!telling_enter())
        return telling_nested()->aligned_alloc(align, size);
    p = real.aligned_alloc(align, size);
    telling_alloc(p, size, LOCAL_CALLER());
    return p;
}

EXPORT void *memalign(size_t align, size_t size)
{
    void *p;

    if (!telling_enter())
        return telling_nested()->memalign(align, size);
    p = real.memalign(align, size);
    telling_alloc(p, size, LOCAL_CALLER());
    return p;
}

EXPORT void *valloc(size_t size)
{
    void *p;

    if (!telling_enter())
        return telling_nested()->valloc(size);
    p = real.valloc(size);
    telling_alloc(p, size, LOCAL_CALLER());
    return p;
}

EXPORT void *pvalloc(size_t size)
{
    void *p;

    if (!telling_enter())
        return telling_nested()->pvalloc(size);
    p = real.pvalloc(size);
    telling_alloc(p, size, LOCAL_CALLER());
    return p;
}

EXPORT size_t malloc_usable_size(void *p)
{
    return real_is_arena(p) ? real_arena_size(p) : real.malloc_usable_size(p);
}

EXPORT int dlclose(void *handle)
{
    int result = real.dlclose(handle);

    beneath_forget();
    if (guard_is_open()) {
        int saved = errno;

        guard.busy = GUARD_RECORDING;
        if (*lifecycle_armed)
            modules_after_dlclose();
        telling_leave();
        errno = saved;
    }
    return result;
}
