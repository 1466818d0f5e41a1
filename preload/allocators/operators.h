/*
 * operators.h: telling of an allocator's own operator new, and of functions that are like it.
 *
 * An operator new may call the program's new_handler, and may be left by an exception. So
 * nothing of ours is held while it is at work: the guard then says GUARD_OPERATOR, which
 * lets nested calls be told of, and is as good as idle if it is left standing. Nested calls
 * leave the guard idle; only then there is a question who has told of the block.
 */
#ifndef FLAME_PRELOAD_ALLOCATORS_OPERATORS_H
#define FLAME_PRELOAD_ALLOCATORS_OPERATORS_H

#include "preload/hook_scope.h"

/* The forms take one to three words, in registers. What a form does not have is passed on
 * unread. */
typedef void *new_function(size_t size, uintptr_t b, uintptr_t c);

/* An operator new has called hooks. Whether one of them has told of `p`, or of a block in which
 * it lies. Where blocks are sampled it is not known, and true. */
bool operators_is_known(const void *p);

/* Calls the operator, and tells of its block of `size` bytes. Inlined in any case, as resize in
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

/* The size is the first word, as with C++'s own. */
FLAME_INLINE void *operators_new(new_function *next, size_t size, uintptr_t b, uintptr_t c,
                                 const uintptr_t *caller)
{
    return operators_new_of(next, size, size, b, c, caller);
}

#endif
