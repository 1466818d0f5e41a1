/*
 * guard.h: the recorder's state in each thread of the program: 16 bytes of initial-exec TLS (plus
 * libunwind's 32 in unwind/fallback_libunwind.c).
 *
 * `busy` says whether a hook was called from inside another hook of the same thread, and from which
 * part of it.
 */
#ifndef FLAME_PRELOAD_GUARD_H
#define FLAME_PRELOAD_GUARD_H

#include <stdbool.h>

#include "common/compiler.h"

struct thread_state;

enum guard_level {
    GUARD_IDLE = 0,

    /* The next definition of the allocator runs. If it calls malloc, that is a part of the outer
     * call and no call of the program: it is not recorded. */
    GUARD_IN_ALLOCATOR = 1,

    /* Our own code runs, which never allocates. A signal handler that interrupts it may call
     * malloc: that call is passed on and counted as skipped. */
    GUARD_RECORDING = 2,

    /* Recording is being set up, and the loader allocates for us. The memory comes from our own
     * arena, so that the program's allocator sees nothing of it. */
    GUARD_STARTING = 3,

    /* An allocator's own operator new or delete runs. It may call anything (malloc, the program's
     * new_handler), and those are calls of their own. An exception may leave it, too, and then this
     * level stays until the next call: so it means no more than GUARD_IDLE. */
    GUARD_OPERATOR = 4,

    /* The program's own call that maps memory has reached the C library, and its hook will record
     * the result. Otherwise like GUARD_IDLE. */
    GUARD_MAPPING = 8,

    /* Like GUARD_IN_ALLOCATOR, in an outer call that gives a block back. */
    GUARD_IN_FREE = 16 | GUARD_IN_ALLOCATOR,
};

/* Mask of the levels at which a hook runs. */
#define GUARD_AT_WORK 3u

struct guard {
    struct thread_state *self; /* NULL until the thread's first event */
    volatile uint32_t busy;    /* enum guard_level; volatile: signal handlers read it */
    /* The running allocator has mapped memory, which hook_flush_libc_mappings records with this
     * call's stack. */
    uint32_t libc_mappings_pending;
};

extern __thread struct guard guard __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Whether no hook runs in this thread. */
static inline bool guard_is_open(void)
{
    return !(guard.busy & GUARD_AT_WORK);
}

#endif
