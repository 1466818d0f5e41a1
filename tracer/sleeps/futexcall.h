/*
 * futexcall.h: what a call on futexes does. futex(2) has its operation in the arguments; the
 * calls of Linux 6.7 (futex_wake, futex_wait, futex_requeue) do one thing each, and have the
 * same words in other places.
 *
 * Pure functions of what they are given.
 */
#ifndef FLAME_TRACER_SLEEPS_FUTEXCALL_H
#define FLAME_TRACER_SLEEPS_FUTEXCALL_H

#include <stdbool.h>

#include "common/compiler.h"

enum futex_does {
    FUTEX_DOES_NOTHING, /* that is known to wait or to wake */
    FUTEX_WAITS,
    FUTEX_WAKES,
    FUTEX_WAKES_AT_TWO, /* at one futex, and at another as well */
    FUTEX_MOVES,        /* wakes some of those that wait, has the others wait at another futex */
};

struct futex_call {
    enum futex_does does;
    uint32_t mask; /* a waiter is woken by those that have a bit of its mask */
    int wakes;     /* at most so many are woken at the futex of the call */
    int second;    /* at most so many are woken at the other, or moved to it */
    /* Of calls with another futex: with these arguments in the place of its own, the same call
       would be on that one. */
    uint64_t other[6];
};

void futex_call_read(int nr, const uint64_t args[6], struct futex_call *out);

/* Whether the call names its futex, the first of two, in an array of struct futex_waitv at
 * args[0], and not by args[0] itself. Not so if any of several may end its wait. */
bool futex_call_lists(int nr, const uint64_t args[6]);

#endif
