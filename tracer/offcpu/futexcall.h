/*
 * futexcall.h: the effect of a call on futexes. futex(2) has its operation in the arguments. The
 * calls of Linux 6.7 (futex_wake, futex_wait, futex_requeue) do one thing each, and have the same
 * words in other arguments.
 *
 * Pure functions of their arguments.
 */
#ifndef FLAME_TRACER_OFFCPU_FUTEXCALL_H
#define FLAME_TRACER_OFFCPU_FUTEXCALL_H

#include <stdbool.h>

#include "common/compiler.h"

enum futex_does {
    FUTEX_DOES_NOTHING, /* neither waits nor wakes, as far as is known */
    FUTEX_WAITS,
    FUTEX_WAKES,
    FUTEX_WAKES_AT_TWO, /* at one futex, and at a second one */
    FUTEX_MOVES,        /* wakes some of the waiters and moves others to a second futex */
};

struct futex_call {
    enum futex_does does;
    uint32_t mask; /* a waiter is woken by calls whose mask shares a bit with its own */
    int wakes;     /* most waiters that are woken at the first futex */
    int second;    /* most waiters that are woken at the second futex, or moved to it */
    /* Arguments for calls with a second futex: with these in the place of its own, the same call
     * acts on the second futex. */
    uint64_t other[6];
};

void futex_call_read(int nr, const uint64_t args[6], struct futex_call *out);

/* Whether the call names its (first) futex in an array of struct futex_waitv at args[0], instead of
 * by args[0] itself. False if any of several futexes may end its wait. */
bool futex_call_lists(int nr, const uint64_t args[6]);

#endif
