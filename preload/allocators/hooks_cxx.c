/*
 * C++'s operators new and delete, in all their forms.
 *
 * Most of them call malloc and free, whose hooks record the block. Such a hook only jumps to the
 * next definition and leaves no frame. Allocators have operators of their own (BENEATH_OWN), and
 * those are recorded here (operators.h).
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

/* Whether a hook has recorded the block at `p` already: it is the thread's last block then. */
FLAME_COLD bool operators_was_told(const void *p)
{
    struct thread_state *t = guard.self;
    uintptr_t last = t ? t->last_block : 0;
    struct block b;
    bool known;

    if (!last)
        return !t || record_period;
    guard.busy = GUARD_RECORDING;
    known = record_take((const void *)last, &b);
    if (known)
        record_put_back((const void *)last, b);
    telling_leave();
    return known && (uintptr_t)p - last <= b.size;
}

static void delete_own(delete_function *next, void *p, uintptr_t b, uintptr_t c,
                       struct telling_free how)
{
    if (!p || !telling_enter()) {
        if (p)
            watch_miss_free();
        next(p, b, c);
        return;
    }
    guard.busy = GUARD_RECORDING;
    if (lifecycle_on()) {
        if (watch_has(WATCH_MISUSE))
            telling_free(p, how);
        else
            record_free(p);
    }
    guard.busy = GUARD_OPERATOR;
    next(p, b, c);
    telling_leave();
}

/* ---- which operator it is ---- */

static enum trace_made made_by(enum beneath_id id)
{
    switch (id) {
    case BENEATH__Znwm:
    case BENEATH__ZnwmRKSt9nothrow_t:
        return TRACE_MADE_NEW;
    case BENEATH__ZnwmSt11align_val_t:
    case BENEATH__ZnwmSt11align_val_tRKSt9nothrow_t:
        return TRACE_MADE_NEW_ALIGNED;
    case BENEATH__ZnamSt11align_val_t:
    case BENEATH__ZnamSt11align_val_tRKSt9nothrow_t:
        return TRACE_MADE_NEW_ARRAY_ALIGNED;
    default:
        return TRACE_MADE_NEW_ARRAY;
    }
}

static enum trace_call called_as(enum beneath_id id)
{
    switch (id) {
    case BENEATH__ZdlPv:
    case BENEATH__ZdlPvRKSt9nothrow_t:
    case BENEATH__ZdlPvm:
        return TRACE_CALL_DELETE;
    case BENEATH__ZdlPvSt11align_val_t:
    case BENEATH__ZdlPvSt11align_val_tRKSt9nothrow_t:
    case BENEATH__ZdlPvmSt11align_val_t:
        return TRACE_CALL_DELETE_ALIGNED;
    case BENEATH__ZdaPvSt11align_val_t:
    case BENEATH__ZdaPvSt11align_val_tRKSt9nothrow_t:
    case BENEATH__ZdaPvmSt11align_val_t:
        return TRACE_CALL_DELETE_ARRAY_ALIGNED;
    default:
        return TRACE_CALL_DELETE_ARRAY;
    }
}

/* The size that a delete of this form says, its second word. */
static uint64_t said_size(enum beneath_id id, uintptr_t b)
{
    bool sized = id == BENEATH__ZdlPvm || id == BENEATH__ZdaPvm ||
                 id == BENEATH__ZdlPvmSt11align_val_t || id == BENEATH__ZdaPvmSt11align_val_t;

    return sized ? b : TELLING_NO_SIZE;
}

/* ---- next definitions ---- */

/* Allocates where there is no next definition: a program without C++ has found ours by its name. */
static FLAME_COLD void *new_without_any(size_t size, uintptr_t b, enum beneath_id id)
{
    bool aligned = id == BENEATH__ZnwmSt11align_val_t || id == BENEATH__ZnamSt11align_val_t ||
                   id == BENEATH__ZnwmSt11align_val_tRKSt9nothrow_t ||
                   id == BENEATH__ZnamSt11align_val_tRKSt9nothrow_t;

    return aligned ? aligned_alloc(b, size) : malloc(size);
}

/* Begins recording, as only then it is known whether frees are watched. */
static FLAME_COLD void begin(void)
{
    if (telling_enter()) {
        guard.busy = GUARD_RECORDING;
        lifecycle_on();
        telling_leave();
    }
}

static inline bool is_watched(void)
{
    if (unlikely(!*lifecycle_armed))
        begin();
    return unlikely(watch_is_on() & WATCH_MISUSE);
}

FLAME_INLINE void *new_by(beneath_at at, size_t size, uintptr_t b, uintptr_t c, enum beneath_id id,
                          const uintptr_t *caller)
{
    new_function *next = (new_function *)(at & ~BENEATH_OWN);

    if (at & BENEATH_OWN)
        return operators_new(next, size, b, c, caller);
    return next ? next(size, b, c) : new_without_any(size, b, id);
}

static FLAME_COLD void *new_watched(beneath_at at, size_t size, uintptr_t b, uintptr_t c,
                                    enum beneath_id id, const uintptr_t *caller)
{
    bool begun = telling_new_begin(__builtin_frame_address(0));
    void *p = new_by(at, size, b, c, id, caller);

    telling_new_end(p, made_by(id), begun);
    return p;
}

/* Slow paths. The hooks jump to them, so the hook's caller is theirs. */
static FLAME_NOINLINE void *new_slow(size_t size, uintptr_t b, uintptr_t c, enum beneath_id id)
{
    bool watched = is_watched();
    beneath_at at = beneath(id, CALLED_FROM());
    void *p;

    if (likely(!watched))
        return new_by(at, size, b, c, id, LOCAL_CALLER());
    p = new_watched(at, size, b, c, id, LOCAL_CALLER());
    TELLING_STAY();
    return p;
}

static FLAME_NOINLINE void delete_slow(void *p, uintptr_t b, uintptr_t c, enum beneath_id id)
{
    struct telling_free how = {called_as(id), said_size(id, b), LOCAL_CALLER()};
    bool begun = is_watched() && p && telling_delete_begin(p, how);
    beneath_at at = beneath(id, CALLED_FROM());
    delete_function *next = (delete_function *)(at & ~BENEATH_OWN);

    if (at & BENEATH_OWN)
        delete_own(next, p, b, c, how);
    else if (next)
        next(p, b, c);
    else
        free(p);
    if (unlikely(begun))
        telling_delete_end();
}

/* ---- hooks ---- */

/* Whether the next definition is called directly. The sign bit is BENEATH_OWN: the next
 * definition is unknown or an allocator's own. */
static inline bool is_passed_on(beneath_at at)
{
    return (intptr_t)at > 0;
}

#define OPERATOR_NEW(name)                                                                         \
    EXPORT new_function name;                                                                      \
    EXPORT void *name(size_t size, uintptr_t b, uintptr_t c)                                       \
    {                                                                                              \
        beneath_at next = __atomic_load_n(&beneath_known[BENEATH_##name], __ATOMIC_RELAXED);       \
                                                                                                   \
        return likely(is_passed_on(next)) ? ((new_function *)next)(size, b, c)                     \
                                          : new_slow(size, b, c, BENEATH_##name);                  \
    }
#define OPERATOR_DELETE(name)                                                                      \
    EXPORT delete_function name;                                                                   \
    EXPORT void name(void *p, uintptr_t b, uintptr_t c)                                            \
    {                                                                                              \
        beneath_at next = __atomic_load_n(&beneath_known[BENEATH_##name], __ATOMIC_RELAXED);       \
                                                                                                   \
        if (likely(is_passed_on(next)))                                                            \
            ((delete_function *)next)(p, b, c);                                                    \
        else                                                                                       \
            delete_slow(p, b, c, BENEATH_##name);                                                  \
    }

BENEATH_NAMES(OPERATOR_NEW, OPERATOR_DELETE)
