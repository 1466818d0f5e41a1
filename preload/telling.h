/*
 * telling.h: what a hook does around the real call: the guard, and telling the recorder.
 */
#ifndef FLAME_PRELOAD_TELLING_H
#define FLAME_PRELOAD_TELLING_H

#include "preload/guard.h"
#include "preload/lifecycle.h"
#include "preload/real.h"
#include "preload/record.h"
#include "preload/threads.h"

#define EXPORT __attribute__((visibility("default")))

/* Who called the function this is used in. */
#define CALLED_FROM() ((uintptr_t)__builtin_return_address(0))

/* False: the call comes from inside another hook, and is only to be passed on. */
static inline bool telling_enter(void)
{
    if (unlikely(guard.busy) && guard.busy != GUARD_OPERATOR) {
        if (guard.busy == GUARD_RECORDING && guard.self)
            guard.self->record->skipped++;
        return false;
    }
    guard.busy = GUARD_REAL;
    return true;
}

static inline void telling_leave(void)
{
    guard.busy = GUARD_IDLE;
}

/* Where a nested call goes. */
static inline const struct real *telling_nested(void)
{
    return guard.busy == GUARD_STARTING ? &real_arena_calls : &real;
}

/* To be called after telling_enter and the real call, in place of telling_leave. */
static inline void telling_alloc(void *p, size_t size, const uintptr_t *caller)
{
    if (likely(p != NULL && !real_is_arena(p)) && !(*lifecycle_armed && record_passes(size))) {
        guard.busy = GUARD_RECORDING;
        if (lifecycle_on())
            record_alloc(p, size, caller);
    }
    telling_leave();
}

#endif
