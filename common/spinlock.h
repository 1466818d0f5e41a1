/*
 * spinlock.h: a lock for the few places that need one inside a traced program.
 *
 * A leaf: whoever holds it calls nothing that takes another lock, neither ours
 * nor the program's, so it cannot be part of a deadlock. The holder must not be
 * interruptible by a signal handler that wants it too: the shim's guard
 * (preload/guard.h) sees to that. Not fair, not recursive; all zero is unlocked.
 */
#ifndef FLAME_COMMON_SPINLOCK_H
#define FLAME_COMMON_SPINLOCK_H

#include "common/kernel.h"

struct spinlock {
    int held;
};

static inline void spinlock_take(struct spinlock *l)
{
    while (__atomic_exchange_n(&l->held, 1, __ATOMIC_ACQUIRE))
        kernel_yield();
}

static inline void spinlock_drop(struct spinlock *l)
{
    __atomic_store_n(&l->held, 0, __ATOMIC_RELEASE);
}

#endif
