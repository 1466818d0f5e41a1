/*
 * stop_the_world.h: stops the other threads of the process, and reads their registers.
 *
 * Each thread gets a signal, whose handler stores the registers and waits. The signal is the one
 * with which glibc changes user ids, since a program cannot block it. A call that the signal would
 * end with EINTR is made again, with its whole timeout.
 *
 * Between stop_world_begin and stop_world_end the caller must not wait for a resource that another
 * thread may hold: no lock, no malloc, no function of the C library that takes a lock. One stop at
 * a time.
 */
#ifndef FLAME_PRELOAD_LEAK_STOP_THE_WORLD_H
#define FLAME_PRELOAD_LEAK_STOP_THE_WORLD_H

#include <stdbool.h>
#include <stddef.h>

#include "common/compiler.h"

#if defined(__aarch64__)
#define STOP_WORLD_REGISTERS 31
#else
#define STOP_WORLD_REGISTERS 24
#endif
#ifndef STOP_WORLD_THREADS_MAX
#define STOP_WORLD_THREADS_MAX 32768u
#endif

struct stopped_thread {
    uint32_t tid;
    uint32_t state;                            /* enum stop_world_state */
    uintptr_t sp;                              /* 0: not known */
    uintptr_t thread_pointer;                  /* 0: not known */
    uintptr_t alternate;                       /* the thread's alternate signal stack; 0: none */
    uintptr_t pc, bp;                          /* of a stopped thread, bp the frame pointer */
    uintptr_t registers[STOP_WORLD_REGISTERS]; /* likewise */
    /* The call that the thread was in when it was signalled, so that the call can be made again. */
    struct stopped_call {
        long number; /* -1: no call is known */
        uintptr_t arguments[6];
        uintptr_t sp, pc;
    } call;
};

enum stop_world_state {
    STOP_WORLD_TOLD = 0,
    STOP_WORLD_STANDS,
    STOP_WORLD_GONE,   /* it ended before it was stopped */
    STOP_WORLD_MISSED, /* it does not answer, and has not run its own code for a long time */
};

struct stopped_world {
    struct stopped_thread
        *threads; /* n of at most STOP_WORLD_THREADS_MAX, never moved; owned by stop_the_world.c */
    size_t n;
    size_t missed;
};

/* Stops the other threads. False, with no thread stopped: there is no memory or no /proc, the
 * system calls are forbidden, or there are more than STOP_WORLD_THREADS_MAX threads. */
bool stop_world_begin(struct stopped_world *f);
void stop_world_end(struct stopped_world *f);

/* To be called in a forked child, whose parent may have been about to stop its threads. */
void stop_world_after_fork(void);

#endif
