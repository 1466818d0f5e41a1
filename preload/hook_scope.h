/*
 * hook_scope.h: steps of a hook around its call of the next definition: holding the guard, and
 * recording the event.
 */
#ifndef FLAME_PRELOAD_HOOK_SCOPE_H
#define FLAME_PRELOAD_HOOK_SCOPE_H

#include "preload/free_txn.h"
#include "preload/guard.h"
#include "preload/lifecycle.h"
#include "preload/next_malloc.h"
#include "preload/record.h"
#include "preload/threads.h"
#include "preload/sidetables/features.h"

#define EXPORT __attribute__((visibility("default")))

/* Return address of the function that uses it. */
#define CALLED_FROM() ((uintptr_t)__builtin_return_address(0))

/* Begins a hook. False: the call comes from inside another hook, and must only be passed on. */
static inline bool hook_enter(void)
{
    if (unlikely(guard.busy & GUARD_AT_WORK)) {
        if (guard.busy == GUARD_RECORDING && guard.self)
            guard.self->record->skipped++;
        return false;
    }
    guard.busy = GUARD_IN_ALLOCATOR;
    return true;
}

static inline void hook_leave(void)
{
    guard.busy = GUARD_IDLE;
}

/* The functions for a nested call, which hands out memory that is not recorded. */
static inline const struct next_malloc *hook_next_for_nested(void)
{
    if (guard.busy == GUARD_STARTING)
        return &bootstrap_arena_calls;
    features_miss_alloc();
    return &real;
}

/* Records mappings that the allocator made to serve the call, with the stack of its caller. The
 * guard is at GUARD_RECORDING afterwards. (preload/mapping/ has it.) */
FLAME_COLD void hook_flush_libc_mappings(const uintptr_t *caller);

static inline void hook_report_libc_mappings(const uintptr_t *caller)
{
    if (unlikely(guard.libc_mappings_pending))
        hook_flush_libc_mappings(caller);
}

/* To be called after hook_enter and the next definition, in place of hook_leave. */
static inline void hook_alloc(void *p, size_t size, const uintptr_t *caller)
{
    if (likely(p != NULL && !bootstrap_arena_has(p)) &&
        !(*recording_armed && record_passes(size))) {
        guard.busy = GUARD_RECORDING;
        if (recording_on())
            record_alloc(p, size, caller);
    }
    hook_report_libc_mappings(caller);
    hook_leave();
}

/*
 * Steps of hooks that check frees (preload/misuse/ defines them; FEATURE_MISUSE of features.h
 * switches them on). The guard is at GUARD_RECORDING and recording is on, except for the operators.
 */

/* The way in which a block is freed: TRACE_CALL_..., with the size that the caller passed, or
 * HOOK_NO_SIZE. `caller`: as from LOCAL_CALLER. */
struct free_call {
    uint32_t call;
    uint64_t size_arg;
    const uintptr_t *caller;
};
#define HOOK_NO_SIZE UINT64_MAX

/* Like free_begin and free_block, and check the free. */
void hook_free_begin(struct free_txn *f, void *p, struct free_call how);
void hook_free(void *p, struct free_call how);

/* To be called before a dlclose. */
void hook_unload(void);

/*
 * To be called around an operator new, and around an operator delete of a pointer that is not NULL.
 * The begin functions return whether the operator is the outermost, because libstdc++'s operators
 * call each other. If it is, the end must be called as well, except for a new that an exception
 * leaves. `frame`: the operator's. `made`: enum trace_made. A free that an operator delete calls is
 * judged as the delete.
 */
bool hook_new_begin(const void *frame);
void hook_new_end(void *p, uint32_t made, bool outermost);
bool hook_delete_begin(void *p, struct free_call how);
void hook_delete_end(void);

/* Prevents a tail call, which would remove the caller's frame before it is read. */
#define HOOK_STAY() __asm__ volatile("")

/* State of a hook of realloc or its like around the next definition. */
struct realloc_call {
    struct free_txn old;
    bool on; /* the call is recorded */
};

/* To be called after hook_enter. A block that TRACE_CALL_NONE frees is not judged. */
FLAME_INLINE void hook_realloc_begin(struct realloc_call *r, void *p, struct free_call how)
{
    guard.busy = GUARD_RECORDING;
    r->on = recording_on();
    r->old.what = FREE_OF_UNKNOWN;
    if (r->on && p) {
        if (feature_on(FEATURE_MISUSE))
            hook_free_begin(&r->old, p, how);
        else
            free_begin(&r->old, p);
    }
    guard.busy = GUARD_IN_ALLOCATOR;
}

/* To be called after the next definition, in place of hook_leave. `fresh`: the resulting
 * block of `size` bytes, or NULL; then `gone` says whether the old one was freed. Always
 * inlined, like resize in hooks.c. */
FLAME_INLINE void hook_realloc_end(const struct realloc_call *r, void *fresh, size_t size,
                                   bool gone, const uintptr_t *caller)
{
    guard.busy = GUARD_RECORDING;
    if (likely(fresh || gone))
        free_commit(&r->old);
    else
        free_abort(&r->old);
    if (r->on && fresh)
        record_alloc(fresh, size, caller);
    hook_report_libc_mappings(caller);
    hook_leave();
}

#endif
