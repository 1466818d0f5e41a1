/*
 * wake_direction.h: which way data flows in a call on a descriptor or queue: a wake must bring
 * what the sleeper waits for.
 */
#ifndef FLAME_TRACER_OFFCPU_WAKE_DIRECTION_H
#define FLAME_TRACER_OFFCPU_WAKE_DIRECTION_H

#include "tracer/offcpu/offcpu_ops.h"

enum role {
    ROLE_DATA = OFF_WANTS_DATA, /* sleeper: reads; waker: writes */
    ROLE_ROOM = OFF_WANTS_ROOM, /* sleeper: writes; waker: reads */
    ROLE_HANGUP = 1u << 2,      /* waker: closes, shuts down: ends all waits at both ends */
    ROLE_ALL = ROLE_DATA | ROLE_ROOM,
};

/* The roles, as bits, of a thread that sleeps in call `nr`, and of one that wakes others by it. */
unsigned role_sleeping(int nr);
unsigned role_waking(int nr);

#endif
