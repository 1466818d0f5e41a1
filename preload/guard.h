/*
 * guard.h: what each thread of the program carries for us: 16 bytes of
 * initial-exec TLS (plus libunwind's 32 in unwind/walk_libunwind.c).
 *
 * `busy` tells a hook that it was called from inside another hook of the same
 * thread, and from which part of it:
 *   GUARD_REAL       the allocator beneath us calls malloc itself: part of the
 *                    outer call, not a call of the program
 *   GUARD_RECORDING  a signal handler that interrupted our own code, which never
 *                    allocates: the call is passed on and counted as skipped
 *   GUARD_STARTING   recording is being set up, and the loader allocates for us:
 *                    served from our own arena, so that the program's allocator
 *                    sees nothing of it
 */
#ifndef FLAME_PRELOAD_GUARD_H
#define FLAME_PRELOAD_GUARD_H

#include "common/compiler.h"

struct thread_state;

enum guard_level {
    GUARD_IDLE = 0,
    GUARD_REAL = 1,
    GUARD_RECORDING = 2,
    GUARD_STARTING = 3,
};

struct guard {
    struct thread_state *self; /* NULL until the thread's first event */
    volatile uint32_t busy;    /* enum guard_level; volatile: signal handlers read it */
};

extern __thread struct guard guard __attribute__((tls_model("initial-exec"), visibility("hidden")));

#endif
