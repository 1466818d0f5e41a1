/*
 * waitedfor.h: what was waited for, and whose locks, from folded text.
 */
#ifndef FLAME_DRIVER_WAITEDFOR_H
#define FLAME_DRIVER_WAITEDFOR_H

#include "common/strbuf.h"

struct waited {
    char *what;  /* the frame of a call and its object: "futex g_lock" */
    uint64_t us; /* how long */
};

/* The things most waited for of the off view, largest first; returns how many, at most
 * `max`. Free each `what`. */
size_t waited_for(const struct strbuf *off, struct waited *out, size_t max);

struct waited_lock {
    struct waited lock;  /* what is NULL: nobody waited for a lock */
    struct waited giver; /* thread (and functions) that most of the wait ended by; or NULL */
    struct waited end;   /* what a thread further up the chain slept in meanwhile; or NULL */
};

/*
 * The lock most waited for, of the chain view: a futex in one of whose four innermost
 * functions' names there is "lock" (and neither "block" nor "clock"), as in
 * pthread_mutex_lock, __lll_lock_wait, LWLockAcquire; or another call below a function
 * that acquires a lock by its name. A wait on a condition variable has none. Free each
 * `what`.
 */
struct waited_lock waited_lock(const struct strbuf *chain);

#endif
