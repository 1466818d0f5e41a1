/*
 * api_call.h: first and last steps of the functions of flamemem.h that a program calls.
 */
#ifndef FLAME_PRELOAD_API_API_CALL_H
#define FLAME_PRELOAD_API_API_CALL_H

#include <errno.h>

#include "preload/hook_scope.h"

/* State of a call: the guard and errno from before it, and the thread's state. */
struct api_call {
    uint32_t busy;
    int saved_errno;
    struct thread_state *t;
};

/* Begins a call. False: nothing is recorded, or the recorder already runs in this thread. */
static inline bool api_call_begin(struct api_call *a)
{
    *a = (struct api_call){guard.busy, errno, NULL};
    if (!guard_is_open())
        return false;
    guard.busy = GUARD_RECORDING;
    if (recording_on())
        a->t = threads_self();
    if (a->t)
        return true;
    guard.busy = a->busy;
    errno = a->saved_errno;
    return false;
}

static inline int api_call_end(const struct api_call *a, int result)
{
    guard.busy = a->busy;
    errno = a->saved_errno;
    return result;
}

/* Second name `as` for a function, by which the inline functions of flamemem.h find it. The inline
 * functions have the first name. */
#define ASKING_ALSO(name, as) extern __typeof__(name) as __attribute__((alias(#name))) EXPORT

#endif
