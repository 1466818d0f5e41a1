/*
 * stop_the_world.h: the process's other threads made to stand, and what they hold in registers.
 *
 * A signal is sent to each; its handler notes the registers and waits. The signal is the one
 * that glibc changes user ids with, since a program cannot block it. A call that the signal
 * would end with EINTR is made again, with its timeout from the beginning.
 *
 * Between freeze_begin and freeze_end the caller must not wait for anything that another
 * thread may hold: no lock, no malloc, nothing of the C library's that takes one. One at a
 * time.
 */
#ifndef FLAME_PRELOAD_LEAK_STOP_THE_WORLD_H
#define FLAME_PRELOAD_LEAK_STOP_THE_WORLD_H

#include <stdbool.h>
#include <stddef.h>

#include "common/compiler.h"

#if defined(__aarch64__)
#define FREEZE_REGISTERS 31
#else
#define FREEZE_REGISTERS 24
#endif
#ifndef FREEZE_THREADS_MAX
#define FREEZE_THREADS_MAX 32768u
#endif

struct frozen {
    uint32_t tid;
    uint32_t state;                        /* enum freeze_state */
    uintptr_t sp;                          /* 0: not known */
    uintptr_t thread_pointer;              /* 0: not known */
    uintptr_t alternate;                   /* its alternate signal stack; 0: none */
    uintptr_t registers[FREEZE_REGISTERS]; /* of a thread that stands */
    /* The call it was in when it was told to stop, so that it can be made again. */
    struct frozen_call {
        long number; /* -1: it was in none, as far as is known */
        uintptr_t arguments[6];
        uintptr_t sp, pc;
    } call;
};

enum freeze_state {
    FREEZE_TOLD = 0,
    FREEZE_STANDS,
    FREEZE_GONE,   /* it ended before */
    FREEZE_MISSED, /* it does not answer: not in its own code for a long time */
};

struct freeze {
    struct frozen *threads; /* n of at most FREEZE_THREADS_MAX, never moved; stop_the_world.c's */
    size_t n;
    size_t missed;
};

/* False: it cannot be done here (no memory, no /proc, the calls are forbidden, there are more
 * than FREEZE_THREADS_MAX); then nobody stands. */
bool freeze_begin(struct freeze *f);
void freeze_end(struct freeze *f);

/* In a forked child, whose parent may have been about to stop its threads. */
void freeze_after_fork(void);

#endif
