/*
 * asking.h: what the functions that a program calls itself do first and last.
 */
#ifndef FLAME_PRELOAD_ASKED_ASKING_H
#define FLAME_PRELOAD_ASKED_ASKING_H

#include <errno.h>

#include "preload/telling.h"

/* What the guard and errno were. */
struct asking {
    uint32_t busy;
    int saved_errno;
    struct thread_state *t;
};

/* False: nobody records, or the recorder is at work in this thread. */
static inline bool asking_begin(struct asking *a)
{
    *a = (struct asking){guard.busy, errno, NULL};
    if (!guard_is_open())
        return false;
    guard.busy = GUARD_RECORDING;
    if (lifecycle_on())
        a->t = threads_self();
    if (a->t)
        return true;
    guard.busy = a->busy;
    errno = a->saved_errno;
    return false;
}

static inline int asking_end(const struct asking *a, int result)
{
    guard.busy = a->busy;
    errno = a->saved_errno;
    return result;
}

/* The name by which flamemem.h finds a function, whose inline ones have the other. */
#define ASKING_ALSO(name, as) extern __typeof__(name) as __attribute__((alias(#name))) EXPORT

#endif
