/*
 * entry_hooks.h: recording around a call of an allocator's function that has a name of its own
 * (hooks_entries.c).
 *
 * Like the hooks of malloc and its like: hook_scope.h says what is recorded and when.
 */
#ifndef FLAME_PRELOAD_ALLOCATORS_ENTRY_HOOKS_H
#define FLAME_PRELOAD_ALLOCATORS_ENTRY_HOOKS_H

#include "preload/allocators/operators.h"

/* All arguments that a function may have, in registers. Those that a function does not have are
 * passed on unread. */
#define ENTRY_WORDS uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d FLAME_UNUSED
typedef uintptr_t entry_function(ENTRY_WORDS);

/* Frees that are not judged: only the allocator knows which of its functions belong together. */
static const struct free_call entrycalls_unjudged = {TRACE_CALL_NONE, HOOK_NO_SIZE, NULL};

/* All of these are always inlined, like resize in hooks.c. */
FLAME_INLINE uintptr_t entrycalls_give(entry_function *next, ENTRY_WORDS, size_t size,
                                       const uintptr_t *caller)
{
    uintptr_t p;

    if (!hook_enter())
        return next(a, b, c, d);
    p = next(a, b, c, d);
    hook_alloc((void *)p, size, caller);
    return p;
}

FLAME_INLINE uintptr_t entrycalls_copy(entry_function *next, ENTRY_WORDS, const uintptr_t *caller)
{
    uintptr_t p;

    if (!hook_enter())
        return next(a, b, c, d);
    p = next(a, b, c, d);
    hook_alloc((void *)p, p ? strlen((const char *)p) + 1 : 0, caller);
    return p;
}

FLAME_INLINE uintptr_t entrycalls_put(entry_function *next, ENTRY_WORDS, const uintptr_t *caller)
{
    uintptr_t err;

    if (!hook_enter())
        return next(a, b, c, d);
    err = next(a, b, c, d);
    hook_alloc((int)err ? NULL : *(void **)a, c, caller);
    return err;
}

/* Resizes block `a`. A result of NULL means that the block was freed, if the size is 0 or the
 * function frees on failure. */
FLAME_INLINE uintptr_t entrycalls_size_anew(entry_function *next, ENTRY_WORDS, size_t size,
                                            bool drops, const uintptr_t *caller)
{
    struct realloc_call r;
    uintptr_t fresh;

    if (unlikely(bootstrap_arena_has((void *)a)))
        return (uintptr_t)bootstrap_arena_realloc((void *)a, size);
    if (!hook_enter())
        return next(a, b, c, d);
    hook_realloc_begin(&r, (void *)a, entrycalls_unjudged);
    fresh = next(a, b, c, d);
    hook_realloc_end(&r, (void *)fresh, size, drops || size == 0, caller);
    return fresh;
}

/* Resizes block `a` in its place by xallocx, which returns the room that the block has now. The
 * program asks for b to b + c bytes. */
FLAME_INLINE uintptr_t entrycalls_grow(entry_function *next, ENTRY_WORDS, const uintptr_t *caller)
{
    struct realloc_call r;
    uintptr_t room, most;

    if (!hook_enter())
        return next(a, b, c, d);
    hook_realloc_begin(&r, (void *)a, entrycalls_unjudged);
    room = next(a, b, c, d);
    most = b + c < b ? room : b + c;
    hook_realloc_end(&r, room < b ? NULL : (void *)a, room < most ? room : most, false, caller);
    return room;
}

static inline void entrycalls_take(entry_function *next, ENTRY_WORDS)
{
    if (bootstrap_arena_has((void *)a))
        return;
    if (!a || !hook_enter()) {
        next(a, b, c, d);
        return;
    }
    guard.busy = GUARD_RECORDING;
    if (recording_on())
        free_block((void *)a);
    guard.busy = GUARD_IN_ALLOCATOR;
    next(a, b, c, d);
    hook_leave();
}

#endif
