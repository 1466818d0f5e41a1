/*
 * C++'s operators new and delete, in all their forms.
 *
 * Most of them call malloc and free, whose hooks tell of it: then ours is a jump to the next
 * one and leaves no frame. Allocators have operators of their own (BENEATH_OWN), and those
 * are told of here.
 *
 * An operator new may call the program's new_handler, and may be left by an exception. So
 * nothing of ours is held while it is at work: the guard then says GUARD_OPERATOR, which
 * lets nested calls be told of, and is as good as idle if it is left standing. Nested calls
 * leave the guard idle; only then there is a question who has told of the block.
 *
 * Rejected: a landing pad for exceptions, whose personality routine would bring libgcc_s, or
 * a second unwinder, into every process; and it would not see the new_handler's calls.
 * mallocx, je_malloc, tc_malloc, mi_malloc and their like: programs ask by a weak reference
 * whether those are there, and with us they always would be.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "preload/run/beneath.h"
#include "preload/telling.h"

/* The forms take one to three words, in registers. What a form does not have is passed on
 * unread. */
typedef void *new_function(size_t size, uintptr_t b, uintptr_t c);
typedef void delete_function(void *p, uintptr_t b, uintptr_t c);

/* ---- allocators' own ---- */

/* The operator has called hooks. Whether one of them has told of `p`, or of a block in which
 * it lies: that was the thread's last one then. Where blocks are sampled it is not known. */
static FLAME_COLD bool was_told(const void *p)
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

/* Inlined in any case, as resize in hooks.c. */
FLAME_INLINE void *new_own(new_function *next, size_t size, uintptr_t b, uintptr_t c,
                           const uintptr_t *caller)
{
    void *p;

    if (!telling_enter())
        return next(size, b, c);
    guard.busy = GUARD_OPERATOR;
    p = next(size, b, c);
    if (likely(guard.busy == GUARD_OPERATOR) || !was_told(p))
        telling_alloc(p, size, caller);
    return p;
}

static void delete_own(delete_function *next, void *p, uintptr_t b, uintptr_t c)
{
    if (!p || !telling_enter()) {
        next(p, b, c);
        return;
    }
    guard.busy = GUARD_RECORDING;
    if (lifecycle_on())
        record_free(p);
    guard.busy = GUARD_OPERATOR;
    next(p, b, c);
    telling_leave();
}

/* ---- which it is ---- */

/* Somebody has looked ours up by its name, in a program without C++. */
static FLAME_COLD void *new_without_any(size_t size, uintptr_t b, enum beneath_id id)
{
    bool aligned = id == BENEATH__ZnwmSt11align_val_t || id == BENEATH__ZnamSt11align_val_t ||
                   id == BENEATH__ZnwmSt11align_val_tRKSt9nothrow_t ||
                   id == BENEATH__ZnamSt11align_val_tRKSt9nothrow_t;

    return aligned ? aligned_alloc(b, size) : malloc(size);
}

/* These are jumped to, so that the hook's caller is theirs. */
static FLAME_NOINLINE void *new_slow(size_t size, uintptr_t b, uintptr_t c, enum beneath_id id)
{
    beneath_at at = beneath(id, CALLED_FROM());
    new_function *next = (new_function *)(at & ~BENEATH_OWN);

    if (at & BENEATH_OWN)
        return new_own(next, size, b, c, LOCAL_CALLER());
    return next ? next(size, b, c) : new_without_any(size, b, id);
}

static FLAME_NOINLINE void delete_slow(void *p, uintptr_t b, uintptr_t c, enum beneath_id id)
{
    beneath_at at = beneath(id, CALLED_FROM());
    delete_function *next = (delete_function *)(at & ~BENEATH_OWN);

    if (at & BENEATH_OWN)
        delete_own(next, p, b, c);
    else if (next)
        next(p, b, c);
    else
        free(p);
}

/* ---- hooks ---- */

/* BENEATH_OWN is the sign: neither unknown nor an allocator's own. */
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
