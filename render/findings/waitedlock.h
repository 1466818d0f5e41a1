/*
 * waitedlock.h: the lock that was waited for most, who held it, and which waits may be for
 * locks and do not say so; from the folded text of the chain view.
 *
 * A wait is one for a lock if
 *   - it is a futex below a function that the table of fold/stacks/lockframes.h knows; the lock goes
 *     by the table's name for its kind and by the functions that wanted it, since the futex
 *     is the sleeper's own ("Java monitor in Shop.sell < Shop.serve")
 *   - or a futex in one of whose four innermost functions' names there is "lock" (and neither
 *     "block" nor "clock"), as in pthread_mutex_lock, __lll_lock_wait, LWLockAcquire; the lock
 *     is the futex, by its name or by where it lies and those functions
 *   - or another call below a function that acquires a lock by its name.
 * Of two functions that say so the inner one counts.
 *
 * Who held it is who ended the wait; but if that one had been waiting for the same lock
 * until then, it is who ended that, and so on.
 */
#ifndef FLAME_RENDER_FINDINGS_WAITEDLOCK_H
#define FLAME_RENDER_FINDINGS_WAITEDLOCK_H

#include "render/findings/waitedfor.h"

#define LOCK_HOLDERS 3

struct waited_lock {
    struct waited lock; /* what is NULL: nobody waited for a lock */
    /* Threads (and functions) that had it meanwhile, those first that were waited for longest,
       and how many others, with their sum. Who had it for a twentieth of the time or less is
       not named. */
    struct waited holders[LOCK_HOLDERS];
    size_t nholders;
    size_t more_holders;
    uint64_t more_us;
    struct waited end; /* what a thread further up the chain slept in meanwhile; or NULL */
    /* The largest wait that another thread ended and that may be for a lock: "futex [stack] in
       [app+0x1]"; or NULL. */
    struct waited untold;
    /* The runtime whose own threads take locks without a system call, as in "Go's goroutines",
       and how long the threads that run them had nothing to do; or NULL. */
    struct waited green;
};

struct waited_lock waited_lock(const struct strbuf *chain);
void waited_lock_release(struct waited_lock *l);

#endif
