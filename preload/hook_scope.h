/*
 * hook_scope.h: steps of a hook around the next definition: holding the guard, and recording the
 * event.
 */
#ifndef FLAME_PRELOAD_HOOK_SCOPE_H
#define FLAME_PRELOAD_HOOK_SCOPE_H

#include "preload/guard.h"
#include "preload/lifecycle.h"
#include "preload/next_malloc.h"
#include "preload/record.h"
#include "preload/threads.h"
#include "preload/sidetables/features.h"

#define EXPORT __attribute__((visibility("default")))

/* Return address of the function this is used in. */
#define CALLED_FROM() ((uintptr_t)__builtin_return_address(0))

/* Begins a hook. False: the call comes from inside another hook, and is only to be passed on. */
static inline bool telling_enter(void)
{
    if (unlikely(guard.busy & GUARD_AT_WORK)) {
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

/* The functions for a nested call, which hands out memory that is not recorded. */
static inline const struct real *telling_nested(void)
{
    if (guard.busy == GUARD_STARTING)
        return &real_arena_calls;
    watch_miss_alloc();
    return &real;
}

/* Records mappings that the allocator made to serve the call, with the stack of its caller. The
 * guard is at GUARD_RECORDING afterwards. (preload/mapping/ has it.) */
FLAME_COLD void telling_settle(const uintptr_t *caller);

static inline void telling_served(const uintptr_t *caller)
{
    if (unlikely(guard.served))
        telling_settle(caller);
}

/* To be called after telling_enter and the next definition, in place of telling_leave. */
static inline void telling_alloc(void *p, size_t size, const uintptr_t *caller)
{
    if (likely(p != NULL && !real_is_arena(p)) && !(*lifecycle_armed && record_passes(size))) {
        guard.busy = GUARD_RECORDING;
        if (lifecycle_on())
            record_alloc(p, size, caller);
    }
    telling_served(caller);
    telling_leave();
}

/*
 * Steps of hooks where frees are watched (preload/misuse/ has these; features.h says whether). The
 * guard is at GUARD_RECORDING and recording is on, except for the operators.
 */

/* The way in which a block is given back: TRACE_CALL_..., with the size that the caller says, or
 * TELLING_NO_SIZE. `caller` as LOCAL_CALLER has it. */
struct telling_free {
    uint32_t call;
    uint64_t given;
    const uintptr_t *caller;
};
#define TELLING_NO_SIZE UINT64_MAX

/* Like record_take, and judges. */
bool telling_take(void *p, struct telling_free how, struct block *b);

/* Like record_free, and judges. */
void telling_free(void *p, struct telling_free how);

/* To be called before a dlclose. */
void telling_unload(void);

/*
 * To be called around an operator new, and around an operator delete of a pointer that is not NULL.
 * The first returns whether the operator is the outermost, as libstdc++'s call each other. If it
 * is, the end is to be called as well, except for a new that an exception leaves. `frame`: the
 * operator's. `made`: enum trace_made. A free that an operator delete calls is judged as the
 * delete.
 */
bool telling_new_begin(const void *frame);
void telling_new_end(void *p, uint32_t made, bool outermost);
bool telling_delete_begin(void *p, struct telling_free how);
void telling_delete_end(void);

/* Prevents a tail call, which would remove the caller's frame before it is read. */
#define TELLING_STAY() __asm__ volatile("")

/* State of a hook of realloc or its like around the next definition. The block is forgotten
 * before the call, as the allocator may give its address to another thread meanwhile. */
struct telling_resize {
    struct block old;
    bool on, known;
};

/* To be called after telling_enter. A block that is given back by TRACE_CALL_NONE is not judged. */
FLAME_INLINE void telling_resize_begin(struct telling_resize *r, void *p, struct telling_free how)
{
    guard.busy = GUARD_RECORDING;
    r->on = lifecycle_on();
    r->known = r->on && p &&
               (watch_has(WATCH_MISUSE) ? telling_take(p, how, &r->old) : record_take(p, &r->old));
    guard.busy = GUARD_REAL;
}

/* To be called after the next definition, in place of telling_leave. `fresh`: the resulting
 * block of `size` bytes, or NULL; then `gone` says whether the old one was freed. Always
 * inlined, like resize in hooks.c. */
FLAME_INLINE void telling_resize_end(struct telling_resize *r, const void *p, void *fresh,
                                     size_t size, bool gone, const uintptr_t *caller)
{
    guard.busy = GUARD_RECORDING;
    if (r->known) {
        if (fresh || gone)
            record_taken_free(p, r->old);
        else
            record_put_back(p, r->old);
    } else if (watch_has(WATCH_LEFT_OUT) && p && !fresh && !gone) {
        record_unknown_back(p);
    }
    if (r->on && fresh)
        record_alloc(fresh, size, caller);
    telling_served(caller);
    telling_leave();
}

#endif
