/*
 * operators.h: recording of an allocator's own operator new, and of functions like it.
 *
 * An operator new may call the program's new_handler, and an exception may leave it. So the
 * recorder holds nothing while the operator runs. The guard then is at GUARD_OPERATOR, at which
 * nested calls are recorded, and which has the same effect as GUARD_IDLE if it is never reset.
 * Nested calls leave the guard at GUARD_IDLE. Only then it must be found out whether a nested call
 * has already recorded the block.
 */
#ifndef FLAME_PRELOAD_ALLOCATORS_OPERATORS_H
#define FLAME_PRELOAD_ALLOCATORS_OPERATORS_H

#include "preload/hook_scope.h"

/* All forms of operator new take one to three words, in registers. Words that a form does not have
 * are passed on unread. */
typedef void *new_function(size_t size, uintptr_t b, uintptr_t c);

/* To be called if an operator new has called hooks. Whether one of them has recorded `p`, or a
 * block that contains it. True if blocks are sampled, because then it is not known. */
bool operators_is_known(const void *p);

/* Calls the operator, and records its block of `size` bytes. Always inlined, like resize in
 * hooks.c. */
FLAME_INLINE void *operators_new_of(new_function *next, size_t size, uintptr_t a, uintptr_t b,
                                    uintptr_t c, const uintptr_t *caller)
{
    void *p;

    if (!hook_enter())
        return next(a, b, c);
    guard.busy = GUARD_OPERATOR;
    p = next(a, b, c);
    if (likely(guard.busy == GUARD_OPERATOR) || !operators_is_known(p))
        hook_alloc(p, size, caller);
    return p;
}

/* The size is the first word, as for C++'s own operators. */
FLAME_INLINE void *operators_new(new_function *next, size_t size, uintptr_t b, uintptr_t c,
                                 const uintptr_t *caller)
{
    return operators_new_of(next, size, size, b, c, caller);
}

#endif
