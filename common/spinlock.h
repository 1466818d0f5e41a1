/*
 * spinlock.h: a lock for the few places that need one inside a traced program.
 *
 * A leaf: its holder calls nothing that takes another lock, neither ours nor the program's, so it
 * cannot be part of a deadlock. The holder must not be interruptible by a signal handler that wants
 * it too: the recorder's guard (preload/guard.h) sees to that. Not fair, not recursive; all zero is
 * unlocked.
 *
 * A handler that interrupts the holder may never return (siglongjmp), and then the lock is never
 * released. A desertable_lock is for code that a program may well jump out of: a waiter that waits
 * too long continues without it.
 */
#ifndef FLAME_COMMON_SPINLOCK_H
#define FLAME_COMMON_SPINLOCK_H

#include <stdbool.h>
#include <stdint.h>

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

/*
 * Rejected: blocking signals for the holder. Two rt_sigprocmask cost 0.5 us, a twelfth of an mmap
 * and its munmap on the same machine, and a sandbox may refuse them.
 */
#define DESERTED_AFTER (1u << 20) /* yields: seconds; a holder needs a microsecond */

struct desertable_lock {
    struct spinlock lock;
    int deserted; /* no thread waits for it any more */
};

/*
 * False: its holder does not seem to return, and what it protects must not be touched. A holder
 * that was only slow and releases it after all makes it usable again. The wait is counted in yields
 * and not by a clock, as a waiter may itself be stopped for long.
 */
static inline bool desertable_take(struct desertable_lock *l)
{
    for (uint32_t i = 0; __atomic_exchange_n(&l->lock.held, 1, __ATOMIC_ACQUIRE); i++) {
        if (__atomic_load_n(&l->deserted, __ATOMIC_RELAXED))
            return false;
        if (i == DESERTED_AFTER)
            __atomic_store_n(&l->deserted, 1, __ATOMIC_RELAXED);
        kernel_yield();
    }
    if (__atomic_load_n(&l->deserted, __ATOMIC_RELAXED))
        __atomic_store_n(&l->deserted, 0, __ATOMIC_RELAXED);
    return true;
}

static inline void desertable_drop(struct desertable_lock *l)
{
    spinlock_drop(&l->lock);
}

#endif
