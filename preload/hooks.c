/*
 * The interposed functions and nothing else; preload/libflamemem.map exports exactly these. Each
 * calls the next definition and records the event. A hook called from inside another hook (an
 * allocator that uses malloc itself, a signal handler that interrupted the recorder) only passes
 * the call on.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>

#include "preload/runtime/next_operators.h"
#include "preload/hook_scope.h"
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

    if (!hook_enter())
        return hook_next_for_nested()->malloc(size);
    p = real.malloc(size);
    hook_alloc(p, size, LOCAL_CALLER());
    return p;
}

EXPORT void *calloc(size_t n, size_t size)
{
    void *p;

    if (!hook_enter())
        return hook_next_for_nested()->calloc(n, size);
    p = real.calloc(n, size);
    hook_alloc(p, n * size,
               LOCAL_CALLER()); /* cannot overflow: the next definition would have failed */
    return p;
}

static FLAME_COLD void after_unload(void)
{
    int saved = errno;

    modules_after_dlclose();
    next_operators_invalidate();
    errno = saved;
}

static FLAME_COLD FLAME_NOINLINE void give_back_watched(void *p, uintptr_t from,
                                                        struct free_call how)
{
    if (!hook_enter()) {
        features_miss_free();
        real.free(p);
        return;
    }
    guard.busy = GUARD_RECORDING;
    if (recording_on()) {
        if (feature_on(FEATURE_MISUSE))
            hook_free(p, how);
        else
            free_block(p);
    }
    if (unlikely(modules_is_loader(from)))
        after_unload();
    guard.busy = GUARD_IN_FREE;
    real.free(p);
    hook_report_libc_mappings(how.caller);
    hook_leave();
}

/* `from`: return address in the caller. */
FLAME_INLINE void give_back(void *p, uintptr_t from, struct free_call how)
{
    struct block b;

    if (!p || bootstrap_arena_has(p))
        return;
    if (unlikely(any_feature_on())) {
        give_back_watched(p, from, how);
        HOOK_STAY();
        return;
    }
    if (!hook_enter()) {
        real.free(p);
        return;
    }
    /* Allocators read the words before a block: they are fetched while the block is looked up. */
    __builtin_prefetch((char *)p - 16);
    guard.busy = GUARD_RECORDING;
    if (recording_on() && likely(shadow_take((uintptr_t)p, &b)))
        free_count(p, b);
    if (unlikely(modules_is_loader(from)))
        after_unload();
    guard.busy = GUARD_IN_FREE;
    real.free(p);
    hook_report_libc_mappings(how.caller);
    hook_leave();
}

#define GIVEN(called, size) ((struct free_call){TRACE_CALL_##called, size, LOCAL_CALLER()})

EXPORT void free(void *p)
{
    give_back(p, CALLED_FROM(), GIVEN(FREE, HOOK_NO_SIZE));
}

EXPORT void free_sized(void *p, size_t size)
{
    give_back(p, CALLED_FROM(), GIVEN(FREE_SIZED, size));
}

EXPORT void free_aligned_sized(void *p, size_t align FLAME_UNUSED, size_t size)
{
    give_back(p, CALLED_FROM(), GIVEN(FREE_ALIGNED_SIZED, size));
}

/* Always inlined. A caller that ended by a jump to it would lose its frame, with the saved
 * registers, before the stack is walked. */
FLAME_INLINE void *resize(void *p, size_t size, uint32_t call, const uintptr_t *caller)
{
    struct realloc_call r;
    void *fresh;

    if (unlikely(bootstrap_arena_has(p)))
        return guard.busy == GUARD_STARTING ? bootstrap_arena_calls.realloc(p, size)
                                            : bootstrap_arena_realloc(p, size);
    if (!hook_enter())
        return hook_next_for_nested()->realloc(p, size);
    hook_realloc_begin(&r, p, (struct free_call){call, HOOK_NO_SIZE, caller});
    fresh = real.realloc(p, size);
    /* A NULL for a size of 0 means that the block was freed, for any other size that the call
     * failed. */
    hook_realloc_end(&r, fresh, size, size == 0, caller);
    return fresh;
}

EXPORT void *realloc(void *p, size_t size)
{
    return resize(p, size, TRACE_CALL_REALLOC, LOCAL_CALLER());
}

EXPORT void *reallocarray(void *p, size_t n, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(n, size, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    return resize(p, total, TRACE_CALL_REALLOCARRAY, LOCAL_CALLER());
}

EXPORT int posix_memalign(void **out, size_t align, size_t size)
{
    int err;

    if (!hook_enter())
        return hook_next_for_nested()->posix_memalign(out, align, size);
    err = real.posix_memalign(out, align, size);
    hook_alloc(err ? NULL : *out, size, LOCAL_CALLER());
    return err;
}

EXPORT void *aligned_alloc(size_t align, size_t size)
{
    void *p;

    if (!hook_enter())
        return hook_next_for_nested()->aligned_alloc(align, size);
    p = real.aligned_alloc(align, size);
    hook_alloc(p, size, LOCAL_CALLER());
    return p;
}

EXPORT void *memalign(size_t align, size_t size)
{
    void *p;

    if (!hook_enter())
        return hook_next_for_nested()->memalign(align, size);
    p = real.memalign(align, size);
    hook_alloc(p, size, LOCAL_CALLER());
    return p;
}

EXPORT void *valloc(size_t size)
{
    void *p;

    if (!hook_enter())
        return hook_next_for_nested()->valloc(size);
    p = real.valloc(size);
    hook_alloc(p, size, LOCAL_CALLER());
    return p;
}

EXPORT void *pvalloc(size_t size)
{
    void *p;

    if (!hook_enter())
        return hook_next_for_nested()->pvalloc(size);
    p = real.pvalloc(size);
    hook_alloc(p, size, LOCAL_CALLER());
    return p;
}

EXPORT size_t malloc_usable_size(void *p)
{
    return bootstrap_arena_has(p) ? bootstrap_arena_size(p) : real.malloc_usable_size(p);
}

EXPORT int dlclose(void *handle)
{
    int result;

    if (feature_on(FEATURE_MISUSE))
        hook_unload();
    result = real.dlclose(handle);
    next_operators_invalidate();
    if (guard_is_open()) {
        int saved = errno;

        guard.busy = GUARD_RECORDING;
        if (*recording_armed)
            modules_after_dlclose();
        hook_leave();
        errno = saved;
    }
    return result;
}
