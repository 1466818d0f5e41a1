/*
 * C++'s operators new and delete, in all their forms.
 *
 * Most of them call malloc and free, whose hooks record the block. Such a hook only jumps to the
 * next definition and leaves no frame. Some allocators have operators of their own
 * (NEXT_OPERATOR_OWN), which are recorded here (operators.h).
 *
 * Rejected: a landing pad for exceptions, because its personality routine would bring libgcc_s, or
 * a second unwinder, into every process; and it would not see the new_handler's calls.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "preload/allocators/operators.h"
#include "preload/runtime/next_operators.h"

typedef void delete_function(void *p, uintptr_t b, uintptr_t c);

/* ---- allocators' own ---- */

/* Whether a hook has already recorded the block at `p`: then it is the thread's last block. */
FLAME_COLD bool operators_is_known(const void *p)
{
    struct thread_state *t = guard.self;
    uintptr_t last = t ? t->last_block : 0;
    struct block b;

    if (!last)
        return !t || record_period;
    return shadow_find(last, &b) && (uintptr_t)p - last <= b.size;
}

static void delete_own(delete_function *next, void *p, uintptr_t b, uintptr_t c,
                       struct free_call how)
{
    if (!p || !hook_enter()) {
        if (p)
            features_miss_free();
        next(p, b, c);
        return;
    }
    guard.busy = GUARD_RECORDING;
    if (recording_on()) {
        if (feature_on(FEATURE_MISUSE))
            hook_free(p, how);
        else
            free_block(p);
    }
    guard.busy = GUARD_OPERATOR;
    next(p, b, c);
    hook_leave();
}

/* ---- which operator it is ---- */

static enum trace_made made_by(enum next_operator_id id)
{
    switch (id) {
    case NEXT_OPERATOR__Znwm:
    case NEXT_OPERATOR__ZnwmRKSt9nothrow_t:
        return TRACE_MADE_NEW;
    case NEXT_OPERATOR__ZnwmSt11align_val_t:
    case NEXT_OPERATOR__ZnwmSt11align_val_tRKSt9nothrow_t:
        return TRACE_MADE_NEW_ALIGNED;
    case NEXT_OPERATOR__ZnamSt11align_val_t:
    case NEXT_OPERATOR__ZnamSt11align_val_tRKSt9nothrow_t:
        return TRACE_MADE_NEW_ARRAY_ALIGNED;
    default:
        return TRACE_MADE_NEW_ARRAY;
    }
}

static enum trace_call called_as(enum next_operator_id id)
{
    switch (id) {
    case NEXT_OPERATOR__ZdlPv:
    case NEXT_OPERATOR__ZdlPvRKSt9nothrow_t:
    case NEXT_OPERATOR__ZdlPvm:
        return TRACE_CALL_DELETE;
    case NEXT_OPERATOR__ZdlPvSt11align_val_t:
    case NEXT_OPERATOR__ZdlPvSt11align_val_tRKSt9nothrow_t:
    case NEXT_OPERATOR__ZdlPvmSt11align_val_t:
        return TRACE_CALL_DELETE_ALIGNED;
    case NEXT_OPERATOR__ZdaPvSt11align_val_t:
    case NEXT_OPERATOR__ZdaPvSt11align_val_tRKSt9nothrow_t:
    case NEXT_OPERATOR__ZdaPvmSt11align_val_t:
        return TRACE_CALL_DELETE_ARRAY_ALIGNED;
    default:
        return TRACE_CALL_DELETE_ARRAY;
    }
}

/* The size that a delete of this form passes, its second word. */
static uint64_t said_size(enum next_operator_id id, uintptr_t b)
{
    bool sized = id == NEXT_OPERATOR__ZdlPvm || id == NEXT_OPERATOR__ZdaPvm ||
                 id == NEXT_OPERATOR__ZdlPvmSt11align_val_t ||
                 id == NEXT_OPERATOR__ZdaPvmSt11align_val_t;

    return sized ? b : HOOK_NO_SIZE;
}

/* ---- next definitions ---- */

/* Allocates if there is no next definition: a program without C++ has found this hook by its
 * name. */
static FLAME_COLD void *new_without_any(size_t size, uintptr_t b, enum next_operator_id id)
{
    bool aligned = id == NEXT_OPERATOR__ZnwmSt11align_val_t ||
                   id == NEXT_OPERATOR__ZnamSt11align_val_t ||
                   id == NEXT_OPERATOR__ZnwmSt11align_val_tRKSt9nothrow_t ||
                   id == NEXT_OPERATOR__ZnamSt11align_val_tRKSt9nothrow_t;

    return aligned ? aligned_alloc(b, size) : malloc(size);
}

/* Begins recording, because only then it is known whether frees are checked. */
static FLAME_COLD void begin(void)
{
    if (hook_enter()) {
        guard.busy = GUARD_RECORDING;
        recording_on();
        hook_leave();
    }
}

static inline bool is_watched(void)
{
    if (unlikely(!*recording_armed))
        begin();
    return unlikely(any_feature_on() & FEATURE_MISUSE);
}

FLAME_INLINE void *new_by(next_operators_at at, size_t size, uintptr_t b, uintptr_t c,
                          enum next_operator_id id, const uintptr_t *caller)
{
    new_function *next = (new_function *)(at & ~NEXT_OPERATOR_OWN);

    if (at & NEXT_OPERATOR_OWN)
        return operators_new(next, size, b, c, caller);
    return next ? next(size, b, c) : new_without_any(size, b, id);
}

static FLAME_COLD void *new_watched(next_operators_at at, size_t size, uintptr_t b, uintptr_t c,
                                    enum next_operator_id id, const uintptr_t *caller)
{
    bool begun = hook_new_begin(__builtin_frame_address(0));
    void *p = new_by(at, size, b, c, id, caller);

    hook_new_end(p, made_by(id), begun);
    return p;
}

/* Slow paths. The hooks jump to them, so the hook's caller is theirs. */
static FLAME_NOINLINE void *new_slow(size_t size, uintptr_t b, uintptr_t c,
                                     enum next_operator_id id)
{
    bool watched = is_watched();
    next_operators_at at = next_operator(id, CALLED_FROM());
    void *p;

    if (likely(!watched))
        return new_by(at, size, b, c, id, LOCAL_CALLER());
    p = new_watched(at, size, b, c, id, LOCAL_CALLER());
    HOOK_STAY();
    return p;
}

static FLAME_NOINLINE void delete_slow(void *p, uintptr_t b, uintptr_t c, enum next_operator_id id)
{
    struct free_call how = {called_as(id), said_size(id, b), LOCAL_CALLER()};
    bool begun = is_watched() && p && hook_delete_begin(p, how);
    next_operators_at at = next_operator(id, CALLED_FROM());
    delete_function *next = (delete_function *)(at & ~NEXT_OPERATOR_OWN);

    if (at & NEXT_OPERATOR_OWN)
        delete_own(next, p, b, c, how);
    else if (next)
        next(p, b, c);
    else
        free(p);
    if (unlikely(begun))
        hook_delete_end();
}

/* ---- hooks ---- */

/* Whether the next definition is called directly. The sign bit is NEXT_OPERATOR_OWN: the next
 * definition is unknown or an allocator's own. */
static inline bool is_passed_on(next_operators_at at)
{
    return (intptr_t)at > 0;
}

#define OPERATOR_NEW(name)                                                                         \
    EXPORT new_function name;                                                                      \
    EXPORT void *name(size_t size, uintptr_t b, uintptr_t c)                                       \
    {                                                                                              \
        next_operators_at next =                                                                   \
            __atomic_load_n(&next_operators_known[NEXT_OPERATOR_##name], __ATOMIC_RELAXED);        \
                                                                                                   \
        return likely(is_passed_on(next)) ? ((new_function *)next)(size, b, c)                     \
                                          : new_slow(size, b, c, NEXT_OPERATOR_##name);            \
    }
#define OPERATOR_DELETE(name)                                                                      \
    EXPORT delete_function name;                                                                   \
    EXPORT void name(void *p, uintptr_t b, uintptr_t c)                                            \
    {                                                                                              \
        next_operators_at next =                                                                   \
            __atomic_load_n(&next_operators_known[NEXT_OPERATOR_##name], __ATOMIC_RELAXED);        \
                                                                                                   \
        if (likely(is_passed_on(next)))                                                            \
            ((delete_function *)next)(p, b, c);                                                    \
        else                                                                                       \
            delete_slow(p, b, c, NEXT_OPERATOR_##name);                                            \
    }

NEXT_OPERATOR_NAMES(OPERATOR_NEW, OPERATOR_DELETE)
