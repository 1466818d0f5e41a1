/*
 * stop_the_world.h: the process's other threads made to stand, and what they hold in registers.
 *
 * A signal is sent to each; its handler notes the registers and waits. The signal is the one
 * that glibc changes user ids with, since a program cannot block it. A call that the signal
 * would end with EINTR is made again, with its timeout from the beginning.
 *
 * Between stop_world_begin and stop_world_end the caller must not wait for anything that another
 * thread may hold: no lock, no malloc, nothing of the C library's that takes one. One at a
 * time.
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
    uintptr_t alternate;                       /* its alternate signal stack; 0: none */
    uintptr_t registers[STOP_WORLD_REGISTERS]; /* of a thread that stands */
    /* The call it was in when it was told to stop, so that it can be made again. */
    struct stopped_call {
        long number; /* -1: it was in none, as far as is known */
        uintptr_t arguments[6];
        uintptr_t sp, pc;
    } call;
};

enum stop_world_state {
    STOP_WORLD_TOLD = 0,
    STOP_WORLD_STANDS,
    STOP_WORLD_GONE,   /* it ended before */
    STOP_WORLD_MISSED, /* it does not answer: not in its own code for a long time */
};

struct stopped_world {
    struct stopped_thread
        *threads; /* n of at most STOP_WORLD_THREADS_MAX, never moved; stop_the_world.c's */
    size_t n;
    size_t missed;
};

/* False: it cannot be done here (no memory, no /proc, the calls are forbidden, there are more
 * than STOP_WORLD_THREADS_MAX); then nobody stands. */
bool stop_world_begin(struct stopped_world *f);
void stop_world_end(struct stopped_world *f);

/* In a forked child, whose parent may have been about to stop its threads. */
void stop_world_after_fork(void);

#endif
