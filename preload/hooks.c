/*
 * The interposed functions and nothing else; preload/libflamemem.map exports
 * exactly these. Each calls the real function next in link order and tells the
 * recorder. A hook called from inside another hook (an allocator that uses
 * malloc itself, a signal handler that interrupted us) only passes the call on.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>

#include "preload/guard.h"
#include "preload/lifecycle.h"
#include "preload/real.h"
#include "preload/record.h"
#include "preload/threads.h"
#include "unwind/modules.h"

#define EXPORT __attribute__((visibility("default")))

/* glibc 2.36's headers do not declare these; C23 does. */
void free_sized(void *p, size_t size);
void free_aligned_sized(void *p, size_t align, size_t size);
void *pvalloc(size_t size);
void *memalign(size_t align, size_t size);
size_t malloc_usable_size(void *p);
int dlclose(void *handle);

/* ---- the guard ---- */

static inline bool enter(void)
{
    if (unlikely(guard.busy)) {
        if (guard.busy == GUARD_RECORDING && guard.self)
            guard.self->record->skipped++;
        return false;
    }
    guard.busy = GUARD_REAL;
    return true;
}

static inline void leave(void)
{
    guard.busy = GUARD_IDLE;
}

/* Where a nested call goes. */
static const struct real *nested(void)
{
    return guard.busy == GUARD_STARTING ? &real_arena_calls : &real;
}

/* To be called between enter and leave, after the real call. */
static inline void tell_alloc(void *p, size_t size, const uintptr_t *caller)
{
    if (likely(p != NULL && !real_is_arena(p)) && !(*lifecycle_armed && record_passes(size))) {
        guard.busy = GUARD_RECORDING;
        if (lifecycle_on())
            record_alloc(p, size, caller);
    }
    leave();
}

#define CALLED_FROM() ((uintptr_t)__builtin_return_address(0))

/* ---- hooks ---- */

EXPORT void *malloc(size_t size)
{
    void *p;

    if (!enter())
        return nested()->malloc(size);
    p = real.malloc(size);
    tell_alloc(p, size, LOCAL_CALLER());
    return p;
}

EXPORT void *calloc(size_t n, size_t size)
{
    void *p;

    if (!enter())
        return nested()->calloc(n, size);
    p = real.calloc(n, size);
    tell_alloc(p, n * size, LOCAL_CALLER()); /* cannot overflow: the real call would have failed */
    return p;
}

static FLAME_COLD void after_unload(void)
{
    int saved = errno;

    modules_after_dlclose();
    errno = saved;
}

/* `from`: who called. */
static inline void give_back(void *p, uintptr_t from)
{
    if (!p || real_is_arena(p))
        return;
    if (!enter()) {
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
    leave();
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

static inline void *resize(void *p, size_t size, const uintptr_t *caller)
{
    struct block old;
    bool on, known;
    void *fresh;

    if (unlikely(real_is_arena(p)))
        return guard.busy == GUARD_STARTING ? real_arena_calls.realloc(p, size)
                                            : real_arena_realloc(p, size);
    if (!enter())
        return nested()->realloc(p, size);
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
    leave();
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

    if (!enter())
        return nested()->posix_memalign(out, align, size);
    err = real.posix_memalign(out, align, size);
    tell_alloc(err ? NULL : *out, size, LOCAL_CALLER());
    return err;
}

EXPORT void *aligned_alloc(size_t align, size_t size)
{
    void *p;

    if (!enter())
        return nested()->aligned_alloc(align, size);
    p = real.aligned_alloc(align, size);
    tell_alloc(p, size, LOCAL_CALLER());
    return p;
}

EXPORT void *memalign(size_t align, size_t size)
{
    void *p;

    if (!enter())
        return nested()->memalign(align, size);
    p = real.memalign(align, size);
    tell_alloc(p, size, LOCAL_CALLER());
    return p;
}

EXPORT void *valloc(size_t size)
{
    void *p;

    if (!enter())
        return nested()->valloc(size);
    p = real.valloc(size);
    tell_alloc(p, size, LOCAL_CALLER());
    return p;
}

EXPORT void *pvalloc(size_t size)
{
    void *p;

    if (!enter())
        return nested()->pvalloc(size);
    p = real.pvalloc(size);
    tell_alloc(p, size, LOCAL_CALLER());
    return p;
}

EXPORT size_t malloc_usable_size(void *p)
{
    return real_is_arena(p) ? real_arena_size(p) : real.malloc_usable_size(p);
}

EXPORT int dlclose(void *handle)
{
    int result = real.dlclose(handle);

    if (!guard.busy) {
        int saved = errno;

        guard.busy = GUARD_RECORDING;
        if (*lifecycle_armed)
            modules_after_dlclose();
        leave();
        errno = saved;
    }
    return result;
}
