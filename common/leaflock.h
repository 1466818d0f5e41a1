/*
 * leaflock.h: a lock for the few places that need one inside a traced program.
 *
 * A leaf: whoever holds it calls nothing that takes another lock, neither ours
 * nor the program's, so it cannot be part of a deadlock. The holder must not be
 * interruptible by a signal handler that wants it too: the shim's guard
 * (preload/guard.h) sees to that. Not fair, not recursive; all zero is unlocked.
 */
#ifndef FLAME_COMMON_LEAFLOCK_H
#define FLAME_COMMON_LEAFLOCK_H

#include <sched.h>

#include "common/compiler.h"

struct leaflock {
    int held;
};

static inline void leaflock_take(struct leaflock *l)
{
    while (__atomic_exchange_n(&l->held, 1, __ATOMIC_ACQUIRE))
        sched_yield();
}

static inline void leaflock_drop(struct leaflock *l)
{
    __atomic_store_n(&l->held, 0, __ATOMIC_RELEASE);
}

#endif
